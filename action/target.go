package action

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// The default target: a file in the data directory, created at its first use.
const (
	MainTarget = "main"
	MainURL    = "sqlite:main.db"
)

// TargetTimeoutMax bounds the timeout of a target.
const TargetTimeoutMax = 7 * 24 * time.Hour

// Target is a database that jobs of the types sql and call work on. Its URLs may
// contain passwords, so its formatted forms omit them.
type Target struct {
	URL     string            // sqlite:PATH, postgres://… or mysql://…
	Roles   map[string]string // URL of the login for each role, of the same kind
	OpenTo  []string          // users and roles that may use the login of URL; administrators always may
	Timeout time.Duration     // of one run; 0: the timeout of the job
}

// String is the kind of database, without secrets.
func (t Target) String() string {
	scheme, _, _ := strings.Cut(t.URL, ":")
	return fmt.Sprintf("%s:… with %d roles", scheme, len(t.Roles))
}

// GoString is used by %#v, which would otherwise show the URLs.
func (t Target) GoString() string { return "action.Target{" + t.String() + "}" }

// LogValue is the target in logs.
func (t Target) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON encodes the text of String.
func (t Target) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", t.String()), nil }

// dialect is the SQL dialect of a target.
type dialect string

const (
	dialectSQLite   dialect = "SQLite"
	dialectPostgres dialect = "PostgreSQL"
	dialectMaria    dialect = "MariaDB"
)

// dialectSchemes are the dialects by URL scheme.
var dialectSchemes = map[string]dialect{
	"sqlite": dialectSQLite, "postgres": dialectPostgres, "postgresql": dialectPostgres, "mysql": dialectMaria, "mariadb": dialectMaria,
}

func dialectOf(rawURL string) dialect {
	scheme, _, _ := strings.Cut(rawURL, ":")
	return dialectSchemes[scheme]
}

// CheckTargets checks the targets of a configuration. Its errors repeat no part of a
// URL except the scheme.
func CheckTargets(targets map[string]Target) error {
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if err := CheckTarget(name, targets[name]); err != nil {
			return err
		}
	}
	return nil
}

// CheckTarget checks one target. The field of its error is the path of the invalid
// part, below targets.
func CheckTarget(name string, t Target) error {
	field := "targets." + name
	if !isTargetName(name) {
		return &rota.Error{
			Code: rota.Invalid, Act: "targets", Field: "targets", Reason: fmt.Sprintf("%.64q is not the name of a target", name),
			Hint: "write 1 to 64 lower-case letters, digits, _ and -, beginning with a letter, such as warehouse",
		}
	}
	if err := checkURL(t.URL); err != nil {
		return wrongURL(field+".url", err)
	}
	if t.Timeout < 0 || t.Timeout > TargetTimeoutMax {
		return &rota.Error{
			Code: rota.Invalid, Act: "targets", Field: field + ".timeout", Reason: rota.FormatDuration(t.Timeout) + " is out of range",
			Hint: "write a duration of at most 7 days, such as 30s, or leave it out",
		}
	}
	if err := checkRoles(field+".roles", t); err != nil {
		return err
	}
	return checkOpenTo(field+".open_to", t.OpenTo)
}

// checkOpenTo refuses texts that no user or role can have as its name, since they would have no effect.
func checkOpenTo(field string, names []string) error {
	for _, name := range names {
		if (&rota.PutPrincipal{Meta: rota.NewMeta(""), Name: name, Kind: rota.KindUser}).Validate() != nil {
			return &rota.Error{
				Code: rota.Invalid, Act: "targets", Field: field, Reason: fmt.Sprintf("%.64q cannot be the name of a user or role", name),
				Hint: "list users and roles, such as [etl, ada]; administrators need not be listed",
			}
		}
	}
	return nil
}

func checkRoles(field string, t Target) error {
	kind := dialectOf(t.URL)
	if kind == dialectSQLite && len(t.Roles) > 0 {
		return &rota.Error{
			Code: rota.Invalid, Act: "targets", Field: field, Reason: "a SQLite file has no logins, so it cannot have roles",
			Hint: "leave the roles out, or name a target of its own for each file",
		}
	}
	for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
		err := checkURL(t.Roles[role])
		if err == nil && dialectOf(t.Roles[role]) != kind {
			err = fmt.Errorf("it leads to %s, and the target is on %s", dialectOf(t.Roles[role]), kind)
		}
		if err == nil && role == "" {
			err = errors.New("the role has no name")
		}
		if err != nil {
			return wrongURL(field+"."+role, err)
		}
	}
	return nil
}

func wrongURL(field string, err error) error {
	return &rota.Error{
		Code: rota.Invalid, Act: "targets", Field: field, Reason: err.Error(),
		Hint: "write sqlite:PATH, postgres://USER@HOST:5432/DATABASE or mysql://USER@HOST:3306/DATABASE",
	}
}

func isTargetName(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '_' || r == '-')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// checkURL never repeats the part after the scheme, which may contain a password.
func checkURL(text string) error {
	text, err := checkReferences(text)
	if err != nil {
		return err
	}
	scheme, rest, found := strings.Cut(text, ":")
	switch {
	case text == "":
		return errors.New("it has no URL")
	case !found:
		return errors.New("its URL has no scheme")
	}
	switch dialectSchemes[scheme] {
	case dialectSQLite:
		return checkFile(rest)
	case dialectPostgres:
		if !strings.HasPrefix(rest, "//") {
			return errors.New("write postgres://HOST")
		}
		if _, err := pgconn.ParseConfig(text); err != nil {
			return errors.New("PostgreSQL's rules do not allow this URL; special characters of a password are written as %40 and so on")
		}
		return nil
	case dialectMaria:
		_, err := mariaConfig(text)
		return err
	}
	return fmt.Errorf("there is no target with the scheme %.32q", scheme)
}

func checkFile(path string) error {
	switch {
	case path == "":
		return errors.New("it names no file")
	case strings.HasPrefix(path, "//"):
		return errors.New("write sqlite:PATH without //")
	case strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:") || strings.ContainsRune(path, 0):
		return errors.New("it is not the path of a file")
	case !filepath.IsAbs(path) && !filepath.IsLocal(path):
		return errors.New("the path is outside the data directory; use an absolute path")
	}
	return nil
}

// passwordOf is the password in a URL, so that it can be removed from messages.
func passwordOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	if password, has := u.User.Password(); has {
		return password
	}
	return u.Query().Get("password")
}
