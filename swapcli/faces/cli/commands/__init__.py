PUBLIC = ()
