// Package deploy has no code. Its tests run what the files of this folder describe: the systemd unit, the steps of the
// Dockerfile, the services of the compose file, and the release target of the Makefile.
package deploy
