/* server_tls.c - see server_tls.h. */
#include "http/server_tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "http/server.h"

enum { PEM_BYTES_MAX = 1024 * 1024 };

static void forget(char *text)
{
    if (text != NULL)
        gnutls_memset(text, 0, strlen(text));
    free(text);
}

/* Checks the open file, so that it cannot be exchanged in between. */
static pawl_status check_mode(FILE *file, const char *path, struct pawl_error *error)
{
    struct stat found;
    if (fstat(fileno(file), &found) != 0 || (found.st_mode & S_IROTH) == 0)
        return PAWL_OK;
    return pw_server_error(error, PAWL_INVALID,
                           "everybody on this machine can read the key %s (mode %04o): chmod o-r it, or allow it "
                           "(pawld --tls-allow-readable-key)",
                           path, (unsigned)found.st_mode & 07777U);
}

static pawl_status read_file(const char *path, const char *what, bool is_secret, char **out_text,
                             struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    char reason[128], *text = NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return pw_server_error(error, PAWL_INVALID, "cannot read the %s %s: %s", what, path,
                               pw_system_text(errno, reason, sizeof reason));
    (void)setvbuf(file, NULL, _IONBF, 0); /* a buffer would keep a copy of the key */
    if (is_secret)
        status = check_mode(file, path, error);
    if (status != PAWL_OK)
        goto done;
    text = calloc(1, PEM_BYTES_MAX + 1);
    if (text == NULL) {
        status = pw_server_error(error, PAWL_NOMEM, "out of memory");
        goto done;
    }
    size_t size = fread(text, 1, PEM_BYTES_MAX, file);
    if (ferror(file))
        status = pw_server_error(error, PAWL_INVALID, "cannot read the %s %s: %s", what, path,
                                 pw_system_text(errno, reason, sizeof reason));
    else if (strlen(text) != size || strstr(text, "-----BEGIN ") == NULL)
        status = pw_server_error(error, PAWL_INVALID, "the %s %s is not PEM text", what, path);
done:
    fclose(file);
    if (status == PAWL_OK)
        *out_text = text;
    else
        forget(text);
    return status;
}

/* Checks certificate and key, because libmicrohttpd would only report that it cannot start. */
static pawl_status check(const struct pw_server_tls *tls, const char *certificate_path, const char *key_path,
                         struct pawl_error *error)
{
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t certificate = { (unsigned char *)tls->certificate, (unsigned)strlen(tls->certificate) };
    gnutls_datum_t key = { (unsigned char *)tls->key, (unsigned)strlen(tls->key) };
    if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS)
        return pw_server_error(error, PAWL_NOMEM, "out of memory");
    int result = gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (result >= 0)
        return PAWL_OK;
    if (result == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return pw_server_error(error, PAWL_INVALID, "the key %s is not that of the certificate %s", key_path,
                               certificate_path);
    return pw_server_error(error, PAWL_INVALID, "the certificate %s with the key %s cannot be used: %s",
                           certificate_path, key_path, gnutls_strerror(result));
}

pawl_status pw_server_tls_read(const struct pawl_http_server_options *options, struct pw_server_tls *out_tls,
                               struct pawl_error *error)
{
    struct pw_server_tls tls = { NULL, NULL };
    pawl_status status = read_file(options->tls_cert, "certificate", false, &tls.certificate, error);
    if (status == PAWL_OK)
        status = read_file(options->tls_key, "key", !options->tls_allow_readable_key, &tls.key, error);
    if (status == PAWL_OK)
        status = check(&tls, options->tls_cert, options->tls_key, error);
    if (status == PAWL_OK)
        *out_tls = tls;
    else
        pw_server_tls_clear(&tls);
    return status;
}

void pw_server_tls_clear(struct pw_server_tls *tls)
{
    forget(tls->certificate);
    forget(tls->key);
    *tls = (struct pw_server_tls){ NULL, NULL };
}
