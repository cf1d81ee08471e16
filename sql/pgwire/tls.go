package pgwire

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/xdg-go/scram"
)

// offerTLS answers a request for TLS and performs the handshake.
func (c *conn) offerTLS() error {
	offered := c.server.config.TLS
	if offered == nil {
		_, err := c.net.Write([]byte{'N'})
		return err
	}
	if _, err := c.net.Write([]byte{'S'}); err != nil {
		return err
	}
	var used *tls.Certificate
	secured := tls.Server(c.raw, recordingCertificate(offered, &used))
	if err := secured.Handshake(); err != nil {
		return err // the client cannot read an error without TLS
	}
	state := secured.ConnectionState()
	c.net, c.out.conn, c.secure = secured, secured, true
	c.commonName, _ = access.CommonName(&state)
	c.binding = channelBinding(used)
	return nil
}

// recordingCertificate returns a configuration that stores which certificate the handshake
// used. It disables session resumption, which uses no certificate.
func recordingCertificate(config *tls.Config, used **tls.Certificate) *tls.Config {
	own := config.Clone()
	own.SessionTicketsDisabled, own.Certificates = true, nil
	own.GetCertificate = func(hello *tls.ClientHelloInfo) (_ *tls.Certificate, err error) {
		*used, err = chooseCertificate(config, hello)
		return *used, err
	}
	if config.GetConfigForClient != nil {
		own.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := config.GetConfigForClient(hello)
			if chosen == nil || err != nil {
				return nil, err
			}
			chosen = chosen.Clone()
			chosen.GetConfigForClient = nil // crypto/tls ignores it, too
			return recordingCertificate(chosen, used), nil
		}
	}
	return own
}

// chooseCertificate chooses a certificate as crypto/tls does.
func chooseCertificate(config *tls.Config, hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if config.GetCertificate != nil {
		if chosen, err := config.GetCertificate(hello); chosen != nil || err != nil {
			return chosen, err
		}
	}
	for i := range config.Certificates {
		if hello.SupportsCertificate(&config.Certificates[i]) == nil {
			return &config.Certificates[i], nil
		}
	}
	if len(config.Certificates) == 0 {
		return nil, nil // crypto/tls reports that there is none
	}
	return &config.Certificates[0], nil
}

// channelBinding binds a login to the certificate, so that a proxy in the middle cannot forward
// it. Channel binding is not defined for some certificates; then it is not supported.
func channelBinding(used *tls.Certificate) (none scram.ChannelBinding) {
	if used == nil || len(used.Certificate) == 0 {
		return none
	}
	leaf, err := x509.ParseCertificate(used.Certificate[0])
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

// hasCertificateOf reports whether the client has proved by its certificate that it is the user.
func (c *conn) hasCertificateOf(user string) (bool, error) {
	ask := c.server.config.CertificateUser
	if c.commonName == "" || ask == nil {
		return false, nil
	}
	identity, err := ask(c.ctx, c.commonName)
	switch {
	case rota.CodeOf(err) == rota.Denied || err == nil && identity.User != user:
		return false, nil
	case err != nil:
		return false, fatalf(stateUnavailable, "try again later", "the users cannot be read: %v", err)
	}
	c.identity = identity
	return true, nil
}
