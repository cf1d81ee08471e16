package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/rotajobs/rota"
)

// listen takes an address that a flag gives. It is taken before any job starts, so
// that a server which cannot be talked to runs nothing.
func listen(address, flag string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	fault := &rota.Error{
		Code: rota.Unavailable, Act: "listen on " + address, Reason: "it cannot be listened on", Err: err,
		Hint: "choose another address with " + flag + " HOST:PORT; port 0 picks a free one",
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		fault.Err = operation.Err
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		fault.Reason = "another program listens there already"
		fault.Hint = "stop it, or choose another address with " + flag + " HOST:PORT; port 0 picks a free one"
	case errors.Is(err, syscall.EACCES):
		fault.Reason = "this process may not listen there; ports below 1024 need a right of their own"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		fault.Reason = "no interface of this machine has that address"
	}
	return nil, fault
}

// taken says that somebody else listens on an address.
func taken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// loopback reports whether an address can be reached from this machine alone.
func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// writeAddr says where the server listens, for those on the machine who want to
// find it.
func writeAddr(path string, addresses map[string]string) error {
	text, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	if err := writeFile(path, append(text, '\n')); err != nil {
		return dataFault(path, err)
	}
	return nil
}

// removeAddr takes that back. What a killed process left is removed at the next
// start, before anybody could be led astray by it.
func removeAddr(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dataFault(path, err)
	}
	return nil
}
