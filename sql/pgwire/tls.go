package pgwire

import (
	"crypto/tls"
	"crypto/x509"

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
	c.net, c.out.conn, c.secure = secured, secured, true
	c.binding = channelBinding(used)
	return nil
}

// recordingCertificate returns a configuration that stores which certificate the handshake
// used. It disables session resumption, which uses no certificate. A configuration that chooses
// its certificates by a function is used as it is; then channel binding is not offered.
func recordingCertificate(config *tls.Config, used **tls.Certificate) *tls.Config {
	if config.GetCertificate != nil || config.GetConfigForClient != nil || len(config.Certificates) == 0 {
		return config
	}
	own := config.Clone()
	own.SessionTicketsDisabled, own.Certificates = true, nil
	own.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		*used = &config.Certificates[0]
		for i := range config.Certificates { // as crypto/tls chooses
			if hello.SupportsCertificate(&config.Certificates[i]) == nil {
				*used = &config.Certificates[i]
				break
			}
		}
		return *used, nil
	}
	return own
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
