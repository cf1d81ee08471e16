package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/suggest"
)

// DefaultFile is read if it stands in the working directory.
const DefaultFile = "rota.yaml"

// fileMax bounds a configuration file.
const fileMax = 256 << 10

// Given is a setting with the text that somebody wrote, such as a flag.
type Given struct {
	Key  string // as in Setting
	Text string
}

// Load reads a configuration: flags beat the environment, which beats the file,
// which beats the defaults. Without a path the file is rota.yaml, and need not
// be there. A variable that is empty counts as not set.
//
// Whatever is wrong is Invalid, though something stronger may have been said
// elsewhere: a mistake that is not seen today is met on the day the flag goes.
func Load(path string, env func(string) string, flags ...Given) (Config, error) {
	var c Config
	read, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	for _, line := range read.lines {
		if err := c.set(line.key, line.text, line.where(), line.key); err != nil {
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
	if err := c.setTargets(read.targets, env); err != nil {
		return Config{}, err
	}
	return c.withDefaults(), nil
}

// set reads one value. The source says where it stood, and the field which of
// its lines, where the source does not.
func (c *Config) set(key, text, source, field string) error {
	s, known := settingOf(key)
	if !known {
		return &rota.Error{Code: rota.Invalid, Act: source, Reason: "there is no setting " + quoted(key)}
	}
	if err := s.field(c).Set(text); err != nil {
		return &rota.Error{Code: rota.Invalid, Act: source, Field: field, Reason: err.Error(), Hint: s.remedy()}
	}
	return nil
}

func flagOf(key string) string {
	return "--" + Setting{Key: key}.Flag()
}

// readFile reads the lines of a configuration file.
func readFile(path string) (*reading, error) {
	optional := path == ""
	if optional {
		path = DefaultFile
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && optional {
		return &reading{}, nil
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
		return nil, &rota.Error{Code: rota.Invalid, Act: path, Reason: fmt.Sprintf("it has more than %s", formatSize(fileMax)), Hint: "name a configuration file"}
	}
	return parseFile(path, text)
}

func unreadable(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err // the path is named already
	}
	return &rota.Error{
		Code: rota.Invalid, Act: "configuration file " + path, Reason: "it cannot be read", Err: err,
		Hint: "name a file that is there, or leave --config out",
	}
}

// Mistaken names variables that are nearly, but not quite, one of a setting:
// they change nothing, which somebody should be told.
func Mistaken(environ []string) (names []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, "ROTA_")
		if !ours || rest == "URL" || rest == "TOKEN" {
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
