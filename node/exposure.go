package node

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/rotajobs/rota"
)

// exposure checks whether other machines can use a port without TLS.
type exposure struct {
	port     string // http or sql
	tls      bool   // it has a certificate
	optional bool   // clients may connect without TLS all the same
	insecure bool   // the configuration allows it
}

func (c *Config) httpExposure() exposure {
	return exposure{port: "http", tls: c.HTTPCert != "", insecure: c.Insecure}
}

// sqlExposure is that of the SQL port, which without insecure requires TLS of other machines.
func (c *Config) sqlExposure() exposure {
	return exposure{port: "sql", tls: c.SQLCert != "", optional: c.Insecure && c.SQLTLS != require, insecure: c.Insecure}
}

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
	if e.tls && !e.optional || loopback(address) {
		return
	}
	logger.Warn("insecure is set: other machines can use the port without TLS, and "+consequences[e.port], "port", e.port, "address", address.String())
}
