package dev.ebb.spark;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Bytes as people and Spark's settings write them. */
final class Sizes {

    private static final Pattern SIZE = Pattern.compile("(\\d{1,15})\\s*([kmgt]?)(i?b)?");
    private static final String UNITS = "kmgt";

    private Sizes() {}

    /** Throws a {@link NumberFormatException} if the text is no size. */
    static long parse(String text) {
        Matcher parts = SIZE.matcher(text.trim().toLowerCase(Locale.ROOT));
        if (!parts.matches()) {
            throw new NumberFormatException(text);
        }
        int power = parts.group(2).isEmpty() ? 0 : UNITS.indexOf(parts.group(2)) + 1;
        try {
            return Math.multiplyExact(Long.parseLong(parts.group(1)), 1L << (10 * power));
        } catch (ArithmeticException e) {
            throw new NumberFormatException(text);
        }
    }

    static String show(long bytes) {
        double shown = bytes;
        for (String unit : new String[] {"B", "KB", "MB", "GB"}) {
            if (Math.abs(shown) < 1024) {
                return String.format(Locale.ROOT, unit.equals("B") ? "%.0f %s" : "%.1f %s", shown, unit);
            }
            shown /= 1024;
        }
        return String.format(Locale.ROOT, "%.1f TB", shown);
    }
}
