package action

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// The URL of a login can take its user and its password from secrets of the template of the job: ${secret:KEY}. Each run has
// its own connection, so a login with the secrets of one template never serves the jobs of another.

var secretReference = regexp.MustCompile(`\$\{secret:([^}]*)\}`)

// withReferences replaces the references to secrets in a URL by what value returns for their keys.
func withReferences(text string, value func(key string) (string, error)) (filled string, err error) {
	filled = secretReference.ReplaceAllStringFunc(text, func(reference string) string {
		key := strings.TrimSuffix(strings.TrimPrefix(reference, "${secret:"), "}")
		v, failed := value(key)
		if failed != nil && err == nil {
			err = failed
		}
		return strings.ReplaceAll(url.QueryEscape(v), "+", "%20")
	})
	return filled, err
}

// placeholder stands for a secret while a URL is checked.
const placeholder = "rotaSecretPlaceholder"

// checkReferences returns a URL with placeholders in place of secrets. Only the user and the password can be secrets: a
// user who sets a secret of a template must not decide which server a target is.
func checkReferences(text string) (string, error) {
	filled, err := withReferences(text, func(key string) (string, error) { return placeholder, rota.CheckSecretKey("key", key) })
	switch {
	case err != nil || strings.Contains(filled, "${"):
		return "", errors.New("a reference to a secret is ${secret:KEY}, with a key of letters, digits and _")
	case filled == text:
		return text, nil
	case dialectOf(text) == dialectSQLite:
		return "", errors.New("a SQLite file has no login, so its URL has no secrets")
	}
	u, err := url.Parse(filled)
	if err != nil {
		return "", errors.New("it is not a URL; special characters of a password are written as %40 and so on")
	}
	query := u.Query()
	query.Del("password")
	query.Del("user")
	u.User, u.RawQuery = nil, query.Encode()
	if strings.Contains(u.String(), placeholder) {
		return "", errors.New("only its user and its password can be secrets")
	}
	return filled, nil
}

// fillSecrets replaces the references in the URL of a login. From then on the values are masked in all that the run shows.
func (l login) fillSecrets(ctx context.Context) (login, error) {
	filled, err := withReferences(l.url, func(key string) (string, error) {
		value, err := engine.Secret(ctx, key)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
			return "", permanentFailure(codeTarget, "target %s: its login needs the secret %s: %w", l.target, key, err)
		case err != nil:
			return "", failed(codeTarget, "target %s: its login needs the secret %s: %w", l.target, key, err)
		}
		return value, nil
	})
	if err != nil {
		return login{}, err
	}
	l.url = filled
	return l, nil
}
