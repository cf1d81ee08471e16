package pgwire

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// check refuses who cannot be served before any proof is asked for.
func (c *conn) check(m *pgproto3.StartupMessage) error {
	user, database := m.Parameters["user"], m.Parameters["database"]
	for name, value := range m.Parameters {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return fatally(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
		}
	}
	switch {
	case user == "":
		return fatally(stateNotAuthorized, "", "no PostgreSQL user name specified in startup packet")
	case c.server.config.RequireTLS && !c.secure:
		return fatally(stateNotAuthorized, "connect with sslmode=require", "this server is spoken to over TLS only")
	case c.server.full():
		return tooMany()
	case !slices.Contains([]string{"", "rota", "postgres", user}, database):
		return fatally(stateNoDatabase, "there is one, and it is called rota", "database %q does not exist", database)
	case !slices.Contains([]string{"", "0", "f", "false", "off", "no"}, strings.ToLower(m.Parameters["replication"])):
		return fatally(stateNotSupported, "", "replication is not supported")
	}
	return nil
}

// introduce begins the session of a user who has proved who they are, with the
// settings that the client wants.
func (c *conn) introduce(user string, wanted map[string]string) error {
	c.session = c.server.config.Session(user)
	c.names = newNames(c.server.config.MessageMax, &c.server.kept)
	settings, err := options(wanted["options"])
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch {
		case name == "user", name == "database", name == "options", name == "replication", strings.HasPrefix(name, "_pq_."):
		default:
			settings = append(settings, [2]string{name, wanted[name]})
		}
	}
	for _, one := range settings {
		if err := c.set(one[0], one[1]); err != nil {
			return err
		}
	}
	c.out.send(&pgproto3.AuthenticationOk{})
	c.fixed(user)
	return nil
}

// set changes a setting before the first statement; an error there is the end.
func (c *conn) set(name, value string) error {
	if strings.EqualFold(name, "client_encoding") {
		if !isUTF8(value) {
			return fatally(stateBadValue, "set client_encoding to UTF8", "invalid value for parameter \"client_encoding\": %q", value)
		}
		value = "UTF8"
	}
	err := c.session.Set(name, value)
	var own *console.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return &fatal{own}
	}
	c.server.config.Logger.Error("a setting", "name", name, "err", err)
	return fatally(stateInternal, "the log of the server says more", "an error that should not be")
}

// isUTF8 knows the names of the one encoding, and the name by which a client says
// that it does not care.
func isUTF8(name string) bool {
	switch strings.ToLower(strings.Trim(name, `'" `)) {
	case "utf8", "utf-8", "utf_8", "unicode", "sql_ascii", "":
		return true
	}
	return false
}

// options reads what stands in PGOPTIONS: -c name=value or --name=value, with
// blanks behind a backslash.
func options(text string) (settings [][2]string, err error) {
	words := split(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "-c" && i+1 < len(words):
			i++
			word = words[i]
		case strings.HasPrefix(word, "--"):
			name, value, _ := strings.Cut(word[2:], "=")
			word = strings.ReplaceAll(name, "-", "_") + "=" + value
		case strings.HasPrefix(word, "-c"):
			word = word[2:]
		default:
			return nil, fatally("42601", "write -c name=value", "invalid command-line argument for server process: %s", word)
		}
		name, value, found := strings.Cut(word, "=")
		if !found {
			return nil, fatally("42601", "write -c name=value", "-c %s requires a value", name)
		}
		settings = append(settings, [2]string{name, value})
	}
	return settings, nil
}

// split cuts a text at its blanks.
func split(text string) (words []string) {
	var word []byte
	within := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			i++
			word, within = append(word, text[i]), true
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			if within {
				words = append(words, string(word))
			}
			word, within = nil, false
		default:
			word, within = append(word, b), true
		}
	}
	if within {
		words = append(words, string(word))
	}
	return words
}
