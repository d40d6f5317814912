/* notify.h - reports the state to a service manager, if there is one (systemd's NOTIFY_SOCKET). */
#ifndef PAWLD_NOTIFY_H
#define PAWLD_NOTIFY_H

/* state: "READY=1" or "STOPPING=1".  Does nothing without a service manager. */
void notify(const char *state);

#endif
