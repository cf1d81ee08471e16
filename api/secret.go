package api

import (
	"encoding/base64"

	"github.com/rotajobs/rota"
)

// Secret is a secret of a template, without its value.
type Secret struct {
	Template  string `json:"template" doc:"Template whose jobs receive it."`
	Key       string `json:"key" doc:"Its name: letters, digits and _."`
	CreatedBy Text   `json:"created_by" doc:"Actor that set it first."`
	CreatedAt Time   `json:"created_at" nullable:"false" doc:"When it was set first."`
	UpdatedAt Time   `json:"updated_at" nullable:"false" doc:"When it was set last."`
}

// NewSecret converts a secret.
func NewSecret(s *rota.Secret) Secret {
	return Secret{Template: s.Template, Key: s.Key, CreatedBy: Text(s.CreatedBy), CreatedAt: Time{s.CreatedAt}, UpdatedAt: Time{s.UpdatedAt}}
}

// SecretRequest sets a secret.
type SecretRequest struct {
	Value  string    `json:"value" doc:"The value, of at most 64 KiB. No answer shows it."`
	Base64 Opt[bool] `json:"base64,omitzero" doc:"Whether the value is in base64, as bytes that are no text have to be."`
}

// Bytes returns the value.
func (r *SecretRequest) Bytes() ([]byte, error) {
	encoded := false
	r.Base64.SetValue(&encoded)
	if !encoded {
		return []byte(r.Value), nil
	}
	value, err := base64.StdEncoding.DecodeString(r.Value)
	if err != nil {
		return nil, rota.Invalidf("value", "is not base64")
	}
	return value, nil
}

// SecretsRotated is the result of a rotation of the master key.
type SecretsRotated struct {
	From      Text   `json:"from" doc:"Fingerprint of the replaced key. Null: the rotation finished an earlier one."`
	To        string `json:"to" doc:"Fingerprint of the key that seals new values."`
	Rewrapped int    `json:"rewrapped" doc:"Values that were sealed again, with those of webhooks."`
	Webhooks  int    `json:"webhooks" doc:"Of these, secrets of webhooks."`
	Retired   int    `json:"retired" doc:"Keys that were removed from the keyset."`

	Pending bool     `json:"pending" doc:"Whether the key was only added to master.key of this node, and values are still sealed with the earlier one."`
	Nodes   []string `json:"nodes" nullable:"false" doc:"Other nodes of the store that need master.key, if the rotation is pending. Copy the file to them, and repeat the request."`
}
