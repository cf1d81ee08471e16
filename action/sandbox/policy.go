package sandbox

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Isolation says how much separates a program from the rest of the machine.
type Isolation string

const (
	// Full gives the program namespaces of its own, Landlock, a filter of system calls, and limits. It is the default.
	Full Isolation = "full"
	// Landlock is for kernels that allow no user namespaces: Landlock, the filter, and limits.
	Landlock Isolation = "landlock"
	// None sets limits only. The program can do what the user it runs as can do.
	None Isolation = "none"
)

// Policy is what a program can reach and use. The zero value isolates fully, and allows no program.
type Policy struct {
	Isolation Isolation // "" means Full

	Allow  []string // programs that may be opened, and directories of such programs
	Search []string // directories in which Open looks for a name without a slash

	Read    []string // files and directories that the program can read and execute; may contain patterns, such as /lib*
	Write   []string // files and directories that it can read and change
	Hidden  []string // files and directories that it cannot reach, although Read or Write contain them
	Shared  []string // directories that programs with other policies can change; links in them, and in Write, are not followed
	Network bool     // whether it can use the network of the machine

	User *User  // who the program runs as; nil: the user of this process. Only root can choose another
	Dir  string // working directory; "" means /tmp with full isolation, else /

	Memory    int64   // bytes; 0: no limit, as in all limits below
	CPU       float64 // processors
	Processes int     // processes and threads at a time
	OpenFiles int     // descriptors of a process
	FileMax   int64   // bytes of a file that the program writes
	TempMax   int64   // bytes of its private /tmp, which only full isolation has; 0: 64 MiB
}

// User is an account of the system.
type User struct {
	UID, GID uint32
	Groups   []uint32 // additional groups
}

// tempMax is the default of Policy.TempMax.
const tempMax = 64 << 20

// DefaultRead returns what a program usually needs to run.
func DefaultRead() []string { return []string{"/usr", "/bin", "/sbin", "/lib*", "/etc"} }

// changeable returns the directories in which programs can have created links and files, without symbolic links.
func (p Policy) changeable() (dirs []string) {
	if p.isolation() == None {
		return nil // a program can change what its user can change
	}
	for _, path := range slices.Concat(p.Write, p.Shared) {
		dirs = append(dirs, resolve(path))
	}
	return dirs
}

func (p Policy) isolation() Isolation {
	if p.Isolation == "" {
		return Full
	}
	return p.Isolation
}

// Validate returns an error for values that no system supports.
func (p Policy) Validate() error {
	switch p.isolation() {
	case Full, Landlock, None:
	default:
		return fmt.Errorf("isolation: unknown value %q; use full, landlock or none", p.Isolation)
	}
	for _, list := range []struct {
		name  string
		paths []string
	}{{"allow", p.Allow}, {"search", p.Search}, {"read", p.Read}, {"write", p.Write}, {"hidden", p.Hidden}, {"shared", p.Shared}} {
		for _, path := range list.paths {
			if err := checkAbsolute(list.name, path); err != nil {
				return err
			}
		}
	}
	if p.Dir != "" {
		if err := checkAbsolute("dir", p.Dir); err != nil {
			return err
		}
	}
	if p.CPU < 0 || math.IsNaN(p.CPU) || math.IsInf(p.CPU, 0) {
		return fmt.Errorf("cpu: %v is not a number of processors", p.CPU)
	}
	for name, n := range map[string]int64{
		"memory": p.Memory, "processes": int64(p.Processes), "open files": int64(p.OpenFiles), "file size": p.FileMax, "size of /tmp": p.TempMax,
	} {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative; use 0 for no limit", name, n)
		}
	}
	return nil
}

func checkAbsolute(name, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s: %q is not an absolute path", name, path)
	}
	if strings.ContainsRune(path, 0) {
		return fmt.Errorf("%s: %q contains a zero byte", name, path)
	}
	return nil
}
