package action

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/action/sandbox"
)

// settable are the variables that every job may set, as a crontab does.
var settable = []string{"PATH", "HOME", "LANG", "TZ", "SHELL", "LOGNAME"}

// defaultPath is PATH of programs, and where a program without a directory is looked for. That of the job does not matter for the latter.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func searchDirs() []string { return filepath.SplitList(defaultPath) }

// loaderVariables decide what code a program or shell loads before its own.
var loaderVariables = []string{"GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4"}

func isLoaderVariable(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "ROTA_") || slices.Contains(loaderVariables, name)
}

// environment is exactly what a program has: the defaults, what the job sets, the secrets of its template, and what the
// configuration fixes.
func (c *Commands) environment(params, secrets map[string]string, rules CommandRules, account *account, temporary string) ([]string, error) {
	env := map[string]string{"PATH": defaultPath, "HOME": account.home, "LOGNAME": account.name, "SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	if zone := os.Getenv("TZ"); zone != "" {
		env["TZ"] = zone
	}
	fixed := map[string]string{"TMPDIR": temporary}
	var names []string
	for _, entry := range rules.Env {
		name, value, isFixed := strings.Cut(entry, "=")
		if isFixed {
			fixed[name] = value
		}
		names = append(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := params[name]
		was, isFixed := fixed[name]
		switch {
		case !variableName.MatchString(name) || strings.ContainsRune(value, 0):
			return nil, permanentFailure(codeParams, "env: %.64q is not the name of a variable, or its value contains a NUL character", name)
		case isLoaderVariable(name):
			return nil, permanentFailure(codeRefusedExec, "env: %s is refused: no job can set a variable that decides what code a program loads", name)
		case isFixed && was != value:
			return nil, permanentFailure(codeRefusedExec, "env: %s is refused: the configuration of the server sets it", name)
		case !isFixed && !slices.Contains(settable, name) && !slices.Contains(names, name):
			return nil, permanentFailure(codeRefusedExec, "env: %s is refused: add it to env in the section exec of the configuration to let jobs set it", name)
		}
		env[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		if err := checkSecretVariable(name, secrets[name], params, fixed); err != nil {
			return nil, err
		}
		env[name] = secrets[name]
	}
	maps.Copy(env, fixed)
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

// checkSecretVariable reports whether a program can have a secret of the template of its job as an environment variable.
func checkSecretVariable(name, value string, params, fixed map[string]string) error {
	_, isParam := params[name]
	_, isFixed := fixed[name]
	switch {
	case isLoaderVariable(name):
		return permanentFailure(codeRefusedExec, "secret %s is refused: no job can set a variable that decides what code a program loads; give the secret another key", name)
	case isFixed:
		return permanentFailure(codeRefusedExec, "secret %s is refused: the server sets this variable; give the secret another key", name)
	case isParam:
		return permanentFailure(codeRefusedExec, "env: %s is refused: the template of the job has a secret with this key; remove the variable from env, or give the secret another key", name)
	case strings.ContainsRune(value, 0):
		return permanentFailure(codeRefusedExec, "secret %s is refused: it contains a NUL character, which no environment variable can contain; encode it, for example as base64", name)
	}
	return nil
}

// account is the account of the system that a program runs as.
type account struct {
	name, home string
	switched   *sandbox.User // nil: that of the server
}

func (a *account) policy() *sandbox.User { return a.switched }

// chooseUser returns the account that a job asks for, if the rules allow it. An empty list that is not nil allows none.
func chooseUser(asked string, allowed []string) (*account, error) {
	if allowed != nil && len(allowed) == 0 {
		return nil, errors.New("user: the configuration allows no account for this job")
	}
	own := current()
	name := asked
	switch {
	case asked == "" && len(allowed) > 0:
		name = allowed[0]
	case asked != "" && !slices.Contains(allowed, asked) && (len(allowed) > 0 || !isOwnAccount(asked)):
		return nil, fmt.Errorf("user: %.64s is refused: add it to user in the section exec of the configuration", asked)
	}
	if name == "" || isOwnAccount(name) {
		return &account{name: own.Username, home: own.HomeDir}, nil
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("user: %.64s is refused: only a server that runs as root can run programs as another user, and this one runs as %s", name, own.Username)
	}
	return lookUp(name)
}

// current is the account of this process.
func current() *user.User {
	if own, err := user.Current(); err == nil {
		return own
	}
	uid := strconv.Itoa(os.Geteuid()) // an account that the machine does not list, as in a container
	return &user.User{Uid: uid, Username: uid, HomeDir: "/"}
}

// isOwnAccount reports whether an account is that of this process.
func isOwnAccount(name string) bool {
	own := current()
	return name == own.Username || name == own.Uid
}

// Accounts are the accounts of the system that programs can run as. The first is the default.
func (c *CommandConfig) Accounts() []string {
	accounts := slices.Clone(c.Users)
	if os.Geteuid() != 0 {
		accounts = slices.DeleteFunc(accounts, func(name string) bool { return !isOwnAccount(name) })
	}
	if len(accounts) == 0 {
		return []string{current().Username}
	}
	return accounts
}

// IsSettable reports whether every job may set a variable; refused reports whether no job may.
func IsSettable(variable string) (settableByAll, refused bool) {
	return slices.Contains(settable, variable), isLoaderVariable(variable)
}

func lookUp(name string) (*account, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user: there is no account %.64s on this machine", name)
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return &account{name: found.Username, home: found.HomeDir}, nil // a system without numbers, which refuses other users
	}
	a := &account{name: found.Username, home: found.HomeDir, switched: &sandbox.User{UID: uint32(uid), GID: uint32(gid)}}
	groups, err := found.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("user: the groups of %.64s cannot be read: %w", name, err)
	}
	for _, text := range groups {
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			a.switched.Groups = append(a.switched.Groups, uint32(n))
		}
	}
	return a, nil
}

func stringsReader(text string) io.Reader { return strings.NewReader(text) }
