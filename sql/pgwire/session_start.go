package pgwire

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/session"
)

// checkStartup refuses connections that cannot be served, before authentication.
func (c *conn) checkStartup(m *pgproto3.StartupMessage) error {
	user, database := m.Parameters["user"], m.Parameters["database"]
	for name, value := range m.Parameters {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return fatalf(stateEncoding, "", "invalid byte sequence for encoding \"UTF8\"")
		}
	}
	switch {
	case user == "":
		return fatalf(stateNotAuthorized, "", "no PostgreSQL user name specified in startup packet")
	case c.server.config.RequireTLS && !c.secure:
		return fatalf(stateNotAuthorized, "connect with sslmode=require", "this server accepts TLS connections only")
	case c.server.sessions.full():
		return tooManyConnections()
	case !slices.Contains([]string{"", "rota", "postgres", user}, database):
		return fatalf(stateNoDatabase, "the only database is rota; connect with dbname=rota", "database %q does not exist", database)
	case !slices.Contains([]string{"", "0", "f", "false", "off", "no"}, strings.ToLower(m.Parameters["replication"])):
		return fatalf(stateNotSupported, "", "replication is not supported")
	}
	return nil
}

// startSession creates the session of an authenticated user and applies the settings of the
// startup packet.
func (c *conn) startSession(wanted map[string]string) error {
	c.session = c.server.config.Session(c.identity)
	c.prepared = newPreparedSet(c.session.Memory())
	settings, err := parseOptions(wanted["options"])
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
		if err := c.setStartupSetting(one[0], one[1]); err != nil {
			return err
		}
	}
	c.out.send(&pgproto3.AuthenticationOk{})
	c.sendParameters(c.user)
	return nil
}

// setStartupSetting applies one setting of the startup packet. An error ends the connection.
func (c *conn) setStartupSetting(name, value string) error {
	if strings.EqualFold(name, "client_encoding") {
		if !isUTF8(value) {
			return fatalf(stateBadValue, "set client_encoding to UTF8", "invalid value for parameter \"client_encoding\": %q", value)
		}
		value = "UTF8"
	}
	err := c.session.Set(name, value)
	var consoleErr *session.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &consoleErr):
		return &fatal{consoleErr}
	}
	c.server.config.Logger.Error("cannot apply a setting of the startup packet", "name", name, "error", err)
	return fatalf(stateInternal, "see the server log for details", "internal error")
}

// isUTF8 accepts the names of UTF8, and SQL_ASCII, which means no conversion.
func isUTF8(name string) bool {
	switch strings.ToLower(strings.Trim(name, `'" `)) {
	case "utf8", "utf-8", "utf_8", "unicode", "sql_ascii", "":
		return true
	}
	return false
}

// parseOptions parses PGOPTIONS: -c name=value or --name=value. A backslash escapes a blank.
func parseOptions(text string) (settings [][2]string, err error) {
	words := splitOptions(text)
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
			return nil, fatalf("42601", "write -c name=value", "invalid command-line argument for server process: %s", word)
		}
		name, value, found := strings.Cut(word, "=")
		if !found {
			return nil, fatalf("42601", "write -c name=value", "-c %s requires a value", name)
		}
		settings = append(settings, [2]string{name, value})
	}
	return settings, nil
}

// splitOptions splits a text at unescaped blanks.
func splitOptions(text string) (words []string) {
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
