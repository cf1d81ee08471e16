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

// listen opens the address that a flag sets. The node listens before it starts any
// job, so that a server that cannot be reached runs nothing.
func listen(address, flag string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	fault := &rota.Error{
		Code: rota.Unavailable, Act: "listen on " + address, Reason: "the address cannot be listened on", Err: err,
		Hint: "choose another address with " + flag + " HOST:PORT; port 0 picks a free one",
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		fault.Err = operation.Err
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		fault.Reason = "another program already listens there"
		fault.Hint = "stop that program, or choose another address with " + flag + " HOST:PORT; port 0 picks a free one"
	case errors.Is(err, syscall.EACCES):
		fault.Reason = "this process may not listen there; ports below 1024 need a privilege"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		fault.Reason = "no interface of this machine has that address"
	}
	return nil, fault
}

// addressInUse reports whether another program listens on the address.
func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// loopback reports whether only this machine can reach an address.
func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// addressFile is the content of the address file.
type addressFile struct {
	HTTP     string `json:"http"`
	SQL      string `json:"sql,omitempty"`
	HTTPS    bool   `json:"https,omitempty"`     // the API uses TLS
	HTTPCert string `json:"http_cert,omitempty"` // file of its certificate, for clients that can read the data directory
}

// writeAddr writes the addresses of the server to a file, in which the command line
// finds them.
func writeAddr(path string, addresses addressFile) error {
	text, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	if err := writeFile(path, append(text, '\n')); err != nil {
		return dataError(path, err)
	}
	return nil
}

// removeAddr removes that file. After a crash the next start removes it first, so
// that no client uses an outdated address.
func removeAddr(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dataError(path, err)
	}
	return nil
}
