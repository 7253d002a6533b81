package io.gsonfire;

import com.google.gson.GsonBuilder;

/** The part of gson-fire that generated clients without discriminators use. Debian does not have it. */
public class GsonFireBuilder {
    public GsonBuilder createGsonBuilder() {
        return new GsonBuilder();
    }
}
