package pgwire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/xdg-go/scram"
)

// offerTLS answers a request for TLS, and makes the handshake.
func (c *conn) offerTLS() error {
	offered := c.server.config.TLS
	if offered == nil {
		_, err := c.net.Write([]byte{'N'})
		return err
	}
	if _, err := c.net.Write([]byte{'S'}); err != nil {
		return err
	}
	var shown *tls.Certificate
	secured := tls.Server(c.raw, showing(offered, &shown))
	if err := secured.Handshake(); err != nil {
		return err // of which nothing can be said to somebody who does not speak TLS
	}
	c.net, c.out.conn, c.secure = secured, secured, true
	c.binding = bindingOf(shown)
	return nil
}

// showing is a configuration that remembers which certificate was shown. Sessions
// are not resumed, since then none is.
func showing(config *tls.Config, shown **tls.Certificate) *tls.Config {
	watch := func(config *tls.Config) *tls.Config {
		own := config.Clone()
		own.SessionTicketsDisabled = true
		own.GetConfigForClient = nil
		own.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			certificate, err := choose(config, hello)
			*shown = certificate
			return certificate, err
		}
		own.Certificates = nil
		return own
	}
	own := watch(config)
	if ask := config.GetConfigForClient; ask != nil {
		own.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			other, err := ask(hello)
			if other == nil || err != nil {
				return nil, err
			}
			return watch(other), nil
		}
	}
	return own
}

// choose picks the certificate for a client, as crypto/tls does.
func choose(config *tls.Config, hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	list := config.Certificates
	if config.GetCertificate != nil && (len(list) == 0 || hello.ServerName != "") {
		if certificate, err := config.GetCertificate(hello); certificate != nil || err != nil {
			return certificate, err
		}
	}
	for i := range list {
		if len(list) == 1 || hello.SupportsCertificate(&list[i]) == nil {
			return &list[i], nil
		}
	}
	if len(list) == 0 {
		return nil, errors.New("there is no certificate")
	}
	return &list[0], nil
}

// bindingOf ties a login to the certificate, so that nobody in the middle can pass
// it on. Of some certificates it is not defined; then there is none.
func bindingOf(shown *tls.Certificate) (none scram.ChannelBinding) {
	if shown == nil || len(shown.Certificate) == 0 {
		return none
	}
	leaf, err := x509.ParseCertificate(shown.Certificate[0])
	if err != nil {
		return none
	}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	binding, err := scram.NewTLSServerEndpointBinding(state)
	if err != nil {
		return none
	}
	return binding
}
