package report

import (
	"net/url"
	"strings"

	"github.com/getsentry/sentry-go"

	"github.com/rotajobs/rota"
)

// CheckDSN checks the DSN of a project. The error does not repeat the DSN, because it
// contains a key.
func CheckDSN(dsn string) error {
	reason := invalidReason(dsn)
	if reason == "" {
		return nil
	}
	return &rota.Error{
		Code: rota.Invalid, Field: "sentry_dsn", Reason: reason,
		Hint: "copy it from the settings of the project, under Client Keys; it looks like https://KEY@HOST/PROJECT",
	}
}

func invalidReason(dsn string) string {
	u, err := url.Parse(dsn)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "does not begin with https:// or http://"
	case u.User.Username() == "":
		return "has no key before its host"
	case u.Hostname() == "":
		return "has no host"
	case strings.HasSuffix(u.Path, "/") || u.Path == "":
		return "has no project after its host"
	}
	if _, err := sentry.NewDsn(dsn); err != nil {
		return "is not the DSN of a project"
	}
	return ""
}
