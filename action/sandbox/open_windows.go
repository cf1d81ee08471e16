package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Open finds a program that the policy allows. The path is absolute, or a name that is found in policy.Search. On Windows the owners of
// files are not checked.
func Open(path string, policy Policy) (*Program, error) {
	if err := policy.Validate(); err != nil {
		return nil, err
	}
	full, err := search(path, policy.Search)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return nil, err
	}
	for _, entry := range policy.Allow {
		if same := strings.EqualFold(full, filepath.Clean(entry)); same || below(full, entry) {
			file, err := os.Open(real)
			return &Program{name: path, path: real, file: file}, err
		}
	}
	return nil, fmt.Errorf("%s: not in allow; add the program or its directory to allow in the configuration", full)
}

func search(path string, dirs []string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	for _, dir := range dirs {
		if full := filepath.Join(dir, path); path == filepath.Base(path) {
			if _, err := os.Stat(full); err == nil {
				return full, nil
			}
		}
	}
	return "", fmt.Errorf("%s: not found in PATH; write its absolute path", path)
}

func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}
