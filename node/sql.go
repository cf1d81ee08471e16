package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"os"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/pgwire"
)

// verifierName is the file of the SCRAM verifier for the password of the SQL port.
// It is derived from the token, and replaced when the token changes.
const verifierName = "admin.scram"

// listenSQL opens the SQL port. If no address is configured and the default one is
// in use, it picks a free port, so that a second server on a machine starts without
// configuration.
func (n *Node) listenSQL() error {
	if n.config.SQL == noPort {
		return nil
	}
	listener, err := listen(n.config.SQL, "--sql")
	if err != nil && n.config.sqlDefaulted && addressInUse(err) {
		n.logger.Warn("another program listens on the default address of the SQL port; this server uses a free port instead; choose one with --sql HOST:PORT", "default", n.config.SQL)
		listener, err = listen(anyPort, "--sql")
	}
	if err != nil {
		return err
	}
	n.onClose(func() error { _ = listener.Close(); return nil })
	n.sqlListener = listener
	if !loopback(listener.Addr()) && n.config.SQLCert == "" {
		n.logger.Warn("other machines can reach the SQL port, and its connections are not encrypted; "+
			"give it a certificate with --sql-cert and --sql-key, or listen on 127.0.0.1", "address", listener.Addr().String())
	}
	return nil
}

const (
	anyPort = "127.0.0.1:0"
	noPort  = "none"
)

// openSQL creates the server of the SQL port.
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

// admin is the only user.
const admin = "admin"

// openVerifier reads the stored verifier, or creates one if it does not match the token.
func openVerifier(path, token string) (v pgwire.Verifier, _ error) {
	text, err := os.ReadFile(path)
	if err == nil {
		v, err = pgwire.ParseVerifier(string(bytes.TrimSpace(text)))
		if err == nil && v.Matches(token) {
			return v, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return v, dataError(path, err)
	}
	v = pgwire.NewVerifier(token)
	if err := writeFile(path, []byte(v.String()+"\n")); err != nil {
		return v, dataError(path, err)
	}
	return v, nil
}

// encryption is the TLS configuration of the SQL port; nil: none.
func (c *Config) encryption() (*tls.Config, error) {
	switch {
	case c.SQLCert == "" && c.SQLKey == "" && c.SQLTLS == "require":
		return nil, badCertificate("sql_tls", "is require, but no certificate is configured", nil)
	case c.SQLCert == "" && c.SQLKey == "":
		return nil, nil
	case c.SQLCert == "":
		return nil, badCertificate("sql_cert", "is missing; sql_key is set", nil)
	case c.SQLKey == "":
		return nil, badCertificate("sql_key", "is missing; sql_cert is set", nil)
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
		Hint: "set sql_cert and sql_key to two PEM files: the certificate with its chain, and its key",
	}
}

// serveSQL serves the SQL port from the end of recovery until the context ends.
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
