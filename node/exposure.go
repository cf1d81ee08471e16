package node

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/rotajobs/rota"
)

// exposure checks whether other machines can reach a port that has no TLS.
type exposure struct {
	port     string // http or sql
	tls      bool
	insecure bool // the configuration allows it
}

func (c *Config) httpExposure() exposure { return exposure{"http", c.HTTPCert != "", c.Insecure} }

func (c *Config) sqlExposure() exposure { return exposure{"sql", c.SQLCert != "", c.Insecure} }

// consequences say what others can see on each port.
var consequences = map[string]string{
	"http": "anybody on the network path can read the tokens in requests, and use them",
	"sql":  "anybody on the network path can read and change statements and results",
}

// checkText checks the address of the configuration before anything is opened. A host that cannot be resolved is reported
// when the port is opened.
func (e exposure) checkText(address string) error {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil
	}
	return e.check(resolved)
}

// check refuses an address.
func (e exposure) check(address net.Addr) error {
	if e.tls || e.insecure || loopback(address) {
		return nil
	}
	return &rota.Error{
		Code: rota.Invalid, Act: "node", Field: e.port,
		Reason: fmt.Sprintf("other machines can reach %s, and the port has no TLS: %s", address, consequences[e.port]),
		Hint: fmt.Sprintf("set %s_cert and %s_key, or listen on 127.0.0.1; set insecure: true (--insecure, ROTA_INSECURE=true) only if a proxy with TLS is in front of it, or if you trust the whole network",
			e.port, e.port),
	}
}

// warn logs at each start what the configuration allows.
func (e exposure) warn(address net.Addr, logger *slog.Logger) {
	if e.tls || loopback(address) {
		return
	}
	logger.Warn("insecure is set: other machines can reach the port without TLS, and "+consequences[e.port], "port", e.port, "address", address.String())
}
