package node

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// tlsFiles are the files of TLS of one port.
type tlsFiles struct {
	port      string // http or sql: the prefix of the settings
	cert, key string
	clientCA  string   // certificates of the authorities of client certificates; empty: clients are not asked for one
	require   bool     // clients must have a certificate
	protocols []string // application protocols, in the order of preference
}

func (c *Config) httpFiles() tlsFiles {
	return tlsFiles{
		port: "http", cert: c.HTTPCert, key: c.HTTPKey, clientCA: c.HTTPClientCA, require: c.HTTPClientCert == require,
		protocols: []string{"h2", "http/1.1"},
	}
}

func (c *Config) sqlFiles() tlsFiles {
	return tlsFiles{port: "sql", cert: c.SQLCert, key: c.SQLKey, clientCA: c.SQLClientCA, require: c.SQLClientCert == require}
}

// Values of sql_tls, http_client_cert and sql_client_cert.
const (
	allow   = "allow"
	require = "require"
)

// open reads the files. It returns nil if TLS is not configured. The configuration reads the files again when
// they have changed.
func (f tlsFiles) open(logger *slog.Logger) (*tls.Config, error) { return f.openAt(logger, time.Now) }

func (f tlsFiles) openAt(logger *slog.Logger, clock func() time.Time) (*tls.Config, error) {
	switch {
	case f.cert == "" && f.key != "":
		return nil, f.invalid("_cert", "is missing; "+f.port+"_key is set", nil)
	case f.cert != "" && f.key == "":
		return nil, f.invalid("_key", "is missing; "+f.port+"_cert is set", nil)
	case f.cert == "" && f.clientCA != "":
		return nil, f.invalid("_client_ca", "is set, but the port has no certificate", nil)
	case f.clientCA == "" && f.require:
		return nil, f.invalid("_client_cert", "is require, but "+f.port+"_client_ca is not set", nil)
	case f.cert == "":
		return nil, nil
	}
	r := &reloader{files: f, logger: logger, clock: clock}
	content, err := f.read()
	if err != nil {
		return nil, err
	}
	config, err := f.parse(content)
	if err != nil {
		return nil, err
	}
	r.content, r.checked = content, r.clock()
	r.current.Store(config)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: f.protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.config(), nil },
	}, nil
}

// invalid is the error of one of the settings.
func (f tlsFiles) invalid(setting, reason string, err error) error {
	hint := fmt.Sprintf("set %s_cert and %s_key to two PEM files: the certificate with its chain, and its key", f.port, f.port)
	if setting == "_client_ca" || setting == "_client_cert" {
		hint = fmt.Sprintf("set %s_client_ca to a PEM file with the certificates of the authorities that sign client certificates, beside %s_cert and %s_key", f.port, f.port, f.port)
	}
	return &rota.Error{Code: rota.Invalid, Act: "node", Field: f.port + setting, Reason: reason, Err: err, Hint: hint}
}

// tlsContent is the content of the files.
type tlsContent struct{ cert, key, clientCA []byte }

func (c tlsContent) equal(other tlsContent) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key) && bytes.Equal(c.clientCA, other.clientCA)
}

func (f tlsFiles) read() (c tlsContent, err error) {
	for _, one := range []struct {
		setting, path string
		to            *[]byte
	}{{"_cert", f.cert, &c.cert}, {"_key", f.key, &c.key}, {"_client_ca", f.clientCA, &c.clientCA}} {
		if one.path == "" {
			continue
		}
		if *one.to, err = readPEM(one.path); err != nil {
			return c, f.invalid(one.setting, "cannot be read", err)
		}
	}
	return c, nil
}

// pemMax is the largest size of a file with certificates or a key. All authorities of a system have less.
const pemMax = 4 << 20

func readPEM(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, pemMax+1))
	if err == nil && len(text) > pemMax {
		return nil, errors.New("the file is larger than 4 MiB")
	}
	return text, err
}

// parse creates the configuration of connections.
func (f tlsFiles) parse(c tlsContent) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, f.invalid("_cert", "cannot be used with "+f.port+"_key", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: f.protocols}
	if f.clientCA == "" {
		return config, nil
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(c.clientCA) {
		return nil, f.invalid("_client_ca", "has no certificate in PEM form", nil)
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if f.require {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	config.SessionTicketsDisabled = true // a resumed session would not be verified with new authorities
	return config, nil
}

// reloader has the configuration of the files as they are now. It compares their content, because the time of a file can
// stay the same, and a link to another file changes neither.
type reloader struct {
	files   tlsFiles
	logger  *slog.Logger
	clock   func() time.Time
	current atomic.Pointer[tls.Config]

	mu      sync.Mutex
	checked time.Time
	content tlsContent // last read, usable or not
	failed  string     // last error of reading them
}

// reloadEvery is how often the files are read at most.
const reloadEvery = time.Second

// config returns the configuration for the next connection. Files that cannot be used are logged once, and the last usable
// ones stay in use.
func (r *reloader) config() *tls.Config {
	if r.mu.TryLock() {
		r.check()
		r.mu.Unlock()
	}
	return r.current.Load()
}

func (r *reloader) check() {
	now := r.clock()
	if age := now.Sub(r.checked); age >= 0 && age < reloadEvery {
		return
	}
	r.checked = now
	content, err := r.files.read()
	if err != nil {
		if err.Error() != r.failed {
			r.failed = err.Error()
			r.logKept(err)
		}
		return
	}
	r.failed = ""
	if content.equal(r.content) {
		return
	}
	r.content = content
	config, err := r.files.parse(content)
	if err != nil {
		r.logKept(err)
		return
	}
	r.current.Store(config)
	r.logger.Info("the TLS files have changed and are in use for new connections", "port", r.files.port, "certificate", r.files.cert)
}

func (r *reloader) logKept(err error) {
	r.logger.Error("the changed TLS files cannot be used; the last usable ones stay in use", "port", r.files.port, "error", err)
}

// absolutePath is the path that is valid in every directory.
func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
