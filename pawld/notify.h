/* notify.h - tells the service manager how far we are, where there is one (systemd's NOTIFY_SOCKET). */
#ifndef PAWLD_NOTIFY_H
#define PAWLD_NOTIFY_H

/* "READY=1", "STOPPING=1".  Where nobody wants to know, or nobody listens, nothing happens. */
void notify(const char *state);

#endif
