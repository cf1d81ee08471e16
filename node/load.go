package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
)

// DefaultFile is read if it exists in the working directory and no other file is named.
const DefaultFile = "rota.yaml"

// fileMax is the largest size of a configuration file.
const fileMax = 256 << 10

// FlagValue is the value of a command-line flag of a setting.
type FlagValue struct {
	Key  string // as in Setting
	Text string
}

// Load reads a configuration: flags override the environment, which overrides the
// file, which overrides the defaults. Without a path the file is rota.yaml, which
// may be missing. An empty variable counts as not set.
//
// Any invalid value is an error with the code Invalid, even if a value of higher
// precedence overrides it. Otherwise the error would appear only when that value is
// removed.
func Load(path string, env func(string) string, flags ...FlagValue) (Config, error) {
	var c Config
	read, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	for _, line := range read.lines {
		if err := c.set(line.key, line.text, line.position(), line.key); err != nil {
			return Config{}, err
		}
	}
	for _, s := range settings {
		if text := env(s.Variable()); text != "" {
			if err := c.set(s.Key, text, s.Variable(), ""); err != nil {
				return Config{}, err
			}
		}
	}
	for _, flag := range flags {
		if err := c.set(flag.Key, flag.Text, flagOf(flag.Key), ""); err != nil {
			return Config{}, err
		}
	}
	c.MasterKey = env(masterKeyVariable)   // no flag and no file, as the next
	c.AdminToken = env(adminTokenVariable) // no flag and no file: a flag is visible to other users of the machine
	if err := c.setTargets(read.targets, env); err != nil {
		return Config{}, err
	}
	if err := c.setExec(read); err != nil {
		return Config{}, err
	}
	if read.File != nil {
		c.file = read.Name
	}
	return c.withDefaults(), nil
}

// set parses one value. The source states where it was written; the field names the
// setting, if the source does not.
func (c *Config) set(key, text, source, field string) error {
	s, known := settingOf(key)
	if !known {
		return &rota.Error{Code: rota.Invalid, Act: source, Reason: "unknown setting " + quoted(key)}
	}
	if err := s.field(c).Set(text); err != nil {
		return &rota.Error{Code: rota.Invalid, Act: source, Field: field, Reason: err.Error(), Hint: s.remedy()}
	}
	return nil
}

func flagOf(key string) string {
	return "--" + Setting{Key: key}.Flag()
}

// readFile reads and parses a configuration file.
func readFile(path string) (*parsedFile, error) {
	optional := path == ""
	if optional {
		path = DefaultFile
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && optional {
		return &parsedFile{}, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, fileMax+1))
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(text) > fileMax:
		return nil, &rota.Error{Code: rota.Invalid, Act: path, Reason: fmt.Sprintf("the file is larger than %s", formatSize(fileMax)), Hint: "check that --config names a configuration file"}
	}
	return parseFile(path, text)
}

func unreadable(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the message already names the path
	}
	return &rota.Error{
		Code: rota.Invalid, Act: "configuration file " + path, Reason: "the file cannot be read", Err: err,
		Hint: "name an existing file, or omit --config",
	}
}

// clientVariables are the variables of clients, without ROTA_.
var clientVariables = []string{"URL", "TOKEN", "CA", "CLIENT_CERT", "CLIENT_KEY"}

// MisspelledVariables returns the environment variables that look like misspelled
// settings. They have no effect, so the caller warns about them.
func MisspelledVariables(environ []string) (names []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, "ROTA_")
		if !ours || slices.Contains(clientVariables, rest) || name == adminTokenVariable {
			continue
		}
		if meant := suggest.Nearest(name, variables()); meant != "" && meant != name {
			names = append(names, name+" (did you mean "+meant+"?)")
		}
	}
	return names
}

func variables() (names []string) {
	for _, s := range settings {
		names = append(names, s.Variable())
	}
	return names
}
