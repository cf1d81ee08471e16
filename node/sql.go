package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"os"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/pgwire"
)

// verifierName is the file that keeps what the password of the SQL port is proved
// against. It is made from the token, and anew when that is another.
const verifierName = "admin.scram"

// listenSQL takes the address of the SQL port. If nobody said which, and another
// server has the usual one, any other will do: two servers on one machine should
// not need to know of each other.
func (n *Node) listenSQL() error {
	if n.config.SQL == noPort {
		return nil
	}
	listener, err := listen(n.config.SQL, "--sql")
	if err != nil && n.config.anySQL && taken(err) {
		n.logger.Warn("another program listens on the usual address of the SQL port, so a free one is taken; choose one with --sql HOST:PORT", "usual", n.config.SQL)
		listener, err = listen(anyPort, "--sql")
	}
	if err != nil {
		return err
	}
	n.closeLast(func() error { _ = listener.Close(); return nil })
	n.sqlListener = listener
	if !loopback(listener.Addr()) && n.config.SQLCert == "" {
		n.logger.Warn("the SQL port can be reached from other machines, and nothing encrypts what is said; "+
			"give it a certificate with --sql-cert and --sql-key, or listen on 127.0.0.1", "address", listener.Addr().String())
	}
	return nil
}

const (
	anyPort = "127.0.0.1:0"
	noPort  = "none"
)

// openSQL puts the SQL port together.
func (n *Node) openSQL() error {
	verifier, err := openVerifier(n.path(verifierName), n.token)
	if err != nil {
		return err
	}
	encryption, err := n.config.encryption()
	if err != nil {
		return err
	}
	n.port, err = pgwire.New(pgwire.Config{
		Session:  func(user string) pgwire.Session { return n.console.Session(user) },
		Verifier: func(user string) (pgwire.Verifier, bool) { return verifier, user == admin },
		TLS:      encryption, RequireTLS: n.config.SQLTLS == "require",
		Logger: n.logger, Version: n.config.Version,
	})
	return err
}

// admin is the one user there is.
const admin = "admin"

// openVerifier reads what was kept, or makes it.
func openVerifier(path, token string) (v pgwire.Verifier, _ error) {
	text, err := os.ReadFile(path)
	if err == nil {
		v, err = pgwire.ParseVerifier(string(bytes.TrimSpace(text)))
		if err == nil && v.Matches(token) {
			return v, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return v, dataFault(path, err)
	}
	v = pgwire.NewVerifier(token)
	if err := writeFile(path, []byte(v.String()+"\n")); err != nil {
		return v, dataFault(path, err)
	}
	return v, nil
}

// encryption is what the SQL port is encrypted with, nil: nothing.
func (c *Config) encryption() (*tls.Config, error) {
	switch {
	case c.SQLCert == "" && c.SQLKey == "" && c.SQLTLS == "require":
		return nil, badCertificate("sql_tls", "is require, and there is no certificate", nil)
	case c.SQLCert == "" && c.SQLKey == "":
		return nil, nil
	case c.SQLCert == "":
		return nil, badCertificate("sql_cert", "is missing beside sql_key", nil)
	case c.SQLKey == "":
		return nil, badCertificate("sql_key", "is missing beside sql_cert", nil)
	}
	pair, err := tls.LoadX509KeyPair(c.SQLCert, c.SQLKey)
	if err != nil {
		return nil, badCertificate("sql_cert", "cannot be used with sql_key", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func badCertificate(field, reason string, err error) error {
	return &rota.Error{
		Code: rota.Invalid, Act: "node", Field: field, Reason: reason, Err: err,
		Hint: "name two PEM files with sql_cert and sql_key: the certificate with its chain, and its key",
	}
}

// serveSQL answers on the SQL port from when the node does until life ends.
func (n *Node) serveSQL(incarnation context.Context) error {
	select {
	case <-n.serving:
	case <-incarnation.Done():
		return nil
	}
	if n.sqlListener == nil {
		<-incarnation.Done()
		return nil
	}
	return n.port.Serve(incarnation, n.sqlListener)
}
