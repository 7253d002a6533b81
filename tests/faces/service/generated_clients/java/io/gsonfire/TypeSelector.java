package io.gsonfire;

/** Imported by generated clients, and not used without discriminators. */
public interface TypeSelector<T> {}
