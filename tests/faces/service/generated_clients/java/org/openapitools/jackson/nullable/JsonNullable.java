package org.openapitools.jackson.nullable;

/** Named by helpers of generated classes. Debian does not have the library. */
public interface JsonNullable<T> {
    boolean isPresent();

    T get();
}
