package main

import (
	"net"
	"strings"
)

// notifySystemd tells systemd about the state of the server, as Type=notify of a unit expects: READY=1 or STOPPING=1. It does
// nothing if systemd did not start the process. See sd_notify(3).
func notifySystemd(socket, state string) error {
	if socket == "" {
		return nil
	}
	if rest, abstract := strings.CutPrefix(socket, "@"); abstract {
		socket = "\x00" + rest
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Write([]byte(state))
	return err
}
