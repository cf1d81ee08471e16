package action

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mariaParams are the query parameters of a URL, with their allowed values.
var mariaParams = map[string][]string{
	"tls":    {"true", "false", "skip-verify", "preferred"},
	"socket": nil,
}

// mariaConfig parses the URL of a target. Its errors repeat no part of the URL.
func mariaConfig(text string) (*mysql.Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return nil, errors.New("it is not a URL; special characters of a password are written as %40 and so on")
	}
	config := mysql.NewConfig()
	config.Logger = &mysql.NopLogger{}
	config.Timeout = connectTimeout
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.TrimPrefix(u.Path, "/")
	config.Net, config.Addr = "tcp", u.Host
	switch {
	case config.User == "":
		return nil, errors.New("it names no user")
	case config.DBName == "" || strings.Contains(config.DBName, "/"):
		return nil, errors.New("the URL has no database name")
	case u.Host == "" && !u.Query().Has("socket"):
		return nil, errors.New("it names no host")
	}
	if u.Port() == "" {
		config.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	return config, mariaOptions(config, u.Query())
}

func mariaOptions(config *mysql.Config, query url.Values) error {
	for name, values := range query {
		words, known := mariaParams[name]
		switch {
		case !known:
			return fmt.Errorf("unknown parameter %.32q; use tls or socket", name)
		case words != nil && !slices.Contains(words, values[0]):
			return fmt.Errorf("its parameter %s can be %s", name, strings.Join(words, ", "))
		}
	}
	if socket := query.Get("socket"); socket != "" {
		config.Net, config.Addr = "unix", socket
	}
	config.TLSConfig = query.Get("tls")
	return nil
}
