package sandbox

import (
	"path/filepath"
	"strings"
)

// within says whether a path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// resolve follows symbolic links as far as the path exists.
func resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if path == "/" {
		return path
	}
	return filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path))
}

// around returns the directory of the list that a path is in.
func around(path string, dirs []string) string {
	for _, dir := range dirs {
		if within(path, dir) {
			return dir
		}
	}
	return ""
}
