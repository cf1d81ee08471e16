package node

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
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
	exposed := n.config.sqlExposure()
	exposed.warn(listener.Addr(), n.logger)
	return exposed.check(listener.Addr())
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
	n.port, err = pgwire.New(pgwire.Config{
		Session: func(id access.Identity) pgwire.Session { return n.console.Session(n.access.Guard(id), id.User) },
		Verifier: func(ctx context.Context, user string) (access.Verifier, access.Identity, error) {
			if user == rota.AdminUser {
				return verifier, access.Admin(), nil
			}
			return n.access.Credentials(ctx, user)
		},
		CertificateUser: n.access.ByCertificate, Rights: n.access.Stamp,
		LoggedIn:    func(id access.Identity, network string) { n.access.LoggedIn(id, "sql from "+network) },
		LoginFailed: func(user, network string) { n.access.LoginFailed(user, "sql from "+network) },
		TLS:         n.sqlTLS, RequireTLS: n.requireSQLTLS(),
		Logins: n.logins, Rate: n.userRate,
		Logger: n.logger, Version: n.config.Version,
	})
	return err
}

// requireSQLTLS reports whether clients of the SQL port must use TLS.
func (n *Node) requireSQLTLS() bool {
	if n.sqlTLS == nil || n.config.SQLTLS == require {
		return n.sqlTLS != nil
	}
	return n.sqlListener != nil && !loopback(n.sqlListener.Addr()) && !n.config.Insecure
}

// openVerifier reads the stored verifier, or creates one if it does not match the token.
func openVerifier(path, token string) (v access.Verifier, _ error) {
	text, err := os.ReadFile(path)
	if err == nil {
		v, err = access.ParseVerifier(string(bytes.TrimSpace(text)))
		if err == nil && v.Matches(token) {
			return v, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return v, dataError(path, err)
	}
	v = access.NewVerifier(token)
	if err := writeFile(path, []byte(v.String()+"\n")); err != nil {
		return v, dataError(path, err)
	}
	return v, nil
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
