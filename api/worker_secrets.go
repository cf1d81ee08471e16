package api

import (
	"encoding/base64"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// ClaimedSecrets are the secrets of a claimed job. Texts are sent as they are, so that a simple client needs no decoder. JSON cannot contain
// other bytes, and writes a control character with six.
type ClaimedSecrets struct {
	// Secrets is omitted if the template has none.
	Secrets map[string]string `json:"secrets,omitempty" doc:"Secrets of the template of the job, by key. They are sent over TLS or loopback only, to tokens of scope worker."`
	// SecretsBase64 is omitted if all are texts.
	SecretsBase64 map[string]string `json:"secrets_base64,omitempty" doc:"Secrets that are not UTF-8, or contain control characters other than tabs and line breaks, by key: their bytes in base64. They are not among secrets."`
}

// NewClaimedSecrets divides secrets into texts and other bytes. It does not change the map, which others may read.
func NewClaimedSecrets(values map[string]string) (s ClaimedSecrets) {
	for key, value := range values {
		if isText(value) {
			continue
		}
		if s.SecretsBase64 == nil {
			s.SecretsBase64, values = map[string]string{}, maps.Clone(values)
		}
		s.SecretsBase64[key] = base64.StdEncoding.EncodeToString([]byte(value))
		delete(values, key)
	}
	s.Secrets = values
	return s
}

func isText(value string) bool {
	return utf8.ValidString(value) && strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }) < 0
}

// Values returns all secrets by key.
func (s *ClaimedSecrets) Values() (map[string]string, error) {
	values := maps.Clone(s.Secrets)
	for key, encoded := range s.SecretsBase64 {
		value, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errSecretBase64
		}
		if values == nil {
			values = map[string]string{}
		}
		values[key] = string(value)
	}
	return values, nil
}

// errSecretBase64 contains nothing of the value.
var errSecretBase64 = rota.Invalidf("items.secrets_base64", "contains something other than base64")
