package apiclient

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/rotajobs/rota"
)

// TLSFiles are the PEM files of a client.
type TLSFiles struct {
	CA        string // authorities of the server's certificate; empty: those of the system
	Cert, Key string // certificate of the client; empty: none
}

// Config reads the files. It returns nil without files.
func (f TLSFiles) Config() (*tls.Config, error) {
	if f == (TLSFiles{}) {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, rota.Invalidf("ca", "cannot be read: %v", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, rota.Invalidf("ca", "%s has no certificate in PEM form", f.CA)
		}
	}
	switch {
	case f.Cert == "" && f.Key == "":
		return config, nil
	case f.Key == "":
		return nil, rota.Invalidf("client_key", "is missing; client_cert is set")
	case f.Cert == "":
		return nil, rota.Invalidf("client_cert", "is missing; client_key is set")
	}
	own, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, rota.Invalidf("client_cert", "cannot be used with client_key: %v", err)
	}
	config.Certificates = []tls.Certificate{own}
	return config, nil
}

// Pin makes a configuration accept exactly the certificate in a file, whatever names it has. It is for a server on this machine,
// which has written the path of its certificate into its data directory.
func Pin(config *tls.Config, path string) *tls.Config {
	pinned := &tls.Config{MinVersion: tls.VersionTLS12}
	if config != nil {
		pinned = config.Clone()
	}
	pinned.InsecureSkipVerify = true // VerifyConnection compares the whole certificate instead
	pinned.VerifyConnection = func(state tls.ConnectionState) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("the certificate of the server cannot be compared: %w", err)
		}
		if block, _ := pem.Decode(text); block == nil || !bytes.Equal(block.Bytes, state.PeerCertificates[0].Raw) {
			return fmt.Errorf("the server has another certificate than %s", path)
		}
		return nil
	}
	return pinned
}

// WithTLS returns a client that uses a configuration of TLS; nil: that of the client.
func WithTLS(client *http.Client, config *tls.Config) *http.Client {
	transport, is := client.Transport.(*http.Transport)
	if config == nil || !is {
		return client
	}
	own, other := *client, transport.Clone()
	other.TLSClientConfig = config.Clone()
	own.Transport = other
	return &own
}

// CheckTLS refuses a configuration that accepts every server.
func CheckTLS(config *tls.Config) error {
	if config != nil && config.InsecureSkipVerify && config.VerifyConnection == nil && config.VerifyPeerCertificate == nil {
		return rota.Invalidf("tls", "has InsecureSkipVerify, which sends the token to any server; set RootCAs to the authority of the server")
	}
	return nil
}

// HasCertificate reports whether a client logs in by certificate.
func HasCertificate(config *tls.Config) bool {
	return config != nil && (len(config.Certificates) > 0 || config.GetClientCertificate != nil)
}

// TLSFault is why a client and a server do not agree on TLS.
type TLSFault int

// The faults.
const (
	NoFault         TLSFault = iota
	ServerIsPlain            // https:// for a server without TLS
	ServerIsTLS              // http:// for a server with TLS
	UnknownCA                // the server's certificate has an unknown authority
	WrongName                // or another name
	Expired                  // or is not valid now
	CertificateWish          // the server does not accept the client without a certificate, or with this one
)

// TLSFaultOf returns the fault that a request without an answer shows, and its description.
func TLSFaultOf(address string, err error) (fault TLSFault, reason string) {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var operation *net.OpError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), strings.Contains(fmt.Sprint(err), "first record does not look like a TLS handshake"):
		return ServerIsPlain, fmt.Sprintf("the server at %s does not use TLS", address)
	case errors.As(err, &unknown):
		return UnknownCA, fmt.Sprintf("the certificate of the server at %s has an unknown authority", address)
	case errors.As(err, &name):
		return WrongName, fmt.Sprintf("the certificate of the server at %s is for other names: %v", address, name)
	case errors.As(err, &invalid):
		return Expired, fmt.Sprintf("the certificate of the server at %s is not valid: %v", address, invalid)
	case errors.As(err, &operation) && operation.Op == "remote error" && strings.Contains(operation.Err.Error(), "certificate"):
		return CertificateWish, fmt.Sprintf("the server at %s does not accept this client's certificate, or requires one: %v", address, operation.Err)
	}
	return NoFault, ""
}

// AnsweredByTLS reports whether an answer to a request without TLS comes from a server with TLS.
func AnsweredByTLS(answer *http.Response, text []byte) bool {
	return answer.StatusCode == http.StatusBadRequest && bytes.Contains(text, []byte("HTTP request to an HTTPS server"))
}

// PlainToTLS describes that answer.
func PlainToTLS(address string) string { return fmt.Sprintf("the server at %s uses TLS", address) }

// faultHints are the remedies for Go programs.
var faultHints = map[TLSFault]string{
	ServerIsPlain:   "use a URL that begins with http://",
	ServerIsTLS:     "use a URL that begins with https://",
	UnknownCA:       "set RootCAs of Config.TLS to the authority of the server",
	WrongName:       "use a name or an address that its certificate has",
	Expired:         "renew the certificate of the server, and check the clocks of both machines",
	CertificateWish: "set Certificates of Config.TLS to a certificate of an authority that the server knows",
}

// ProgramHint is the remedy of a fault for Go programs, as errors have it. A command replaces it by its own.
func (f TLSFault) ProgramHint() string { return faultHints[f] }

// tlsError is the error of a fault. If Rota has answered at this address before, the certificate may be replaced at the moment.
func (c *Caller) tlsError(act string, fault TLSFault, reason string) *rota.Error {
	e := &rota.Error{Code: rota.Invalid, Act: act, Field: "url", Reason: reason, Hint: faultHints[fault]}
	if c.answered.Load() {
		e.Code, e.Field = rota.Unavailable, ""
	}
	return e
}
