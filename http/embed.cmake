# Writes a C source with a function that answers a file's bytes.  Run as
#     cmake -DINPUT=openapi.json -DHEADER=http/openapi.h -DFUNCTION=pw_http_openapi -DOUTPUT=out.c -P embed.cmake
# A string literal would be shorter, but C promises no more than 4095 bytes of one.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
get_filename_component(name "${INPUT}" NAME)
file(WRITE "${OUTPUT}" "/* Made from ${name} by embed.cmake. */
#include \"${HEADER}\"

static const unsigned char bytes[] = {
    ${bytes}0x00
};

const char *${FUNCTION}(size_t *out_size)
{
    *out_size = sizeof bytes - 1;
    return (const char *)bytes;
}
")
