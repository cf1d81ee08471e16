//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpenRefusesProgramsThatOthersCanReplace(t *testing.T) {
	dir := trustedDir(t)
	for _, sub := range []string{"good", "shared", "shared/inner", "sticky", "data", "out"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"good/run", "good/other", "shared/inner/run", "sticky/run", "data/run", "out/run"} {
		write(t, filepath.Join(dir, path), "#!/bin/sh\n", 0o755)
	}
	write(t, dir+"/good/plain", "x", 0o644)
	write(t, dir+"/good/loose", "x", 0o755)
	chmod(t, dir+"/good/loose", 0o757)
	chmod(t, dir+"/shared", 0o777)
	chmod(t, dir+"/sticky", 0o777|os.ModeSticky)
	for link, to := range map[string]string{"good/link": "run", "good/away": "../shared/inner/run", "shared/link": "../good/run", "good/loop": "loop", "good/out": "../out/link", "out/link": "../good/run"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		path, allow, want string
	}{
		{"good/run", "good/run", ""},
		{"good/run", "good", ""},
		{"good/link", "good", ""},
		{"good/link", "good/link", ""},
		{"good/../good/run", "good/run", ""},

		{"good/other", "good/run", "not in allow"},
		{"good/link", "good/run", "not in allow"}, // a program may look at its name
		{"good/run", "good/link", "not in allow"},
		{"good", "good", "not a program"},
		{"good/run", "goo", "not in allow"},
		{"good/plain", "good", "chmod +x"},
		{"good/loose", "good", "chmod go-w"},
		{"good/loop", "good", "symbolic links"},
		{"good/missing", "good", "does not exist"},
		{"good/away", "good", "shared: other users can write it"},
		{"shared/inner/run", "shared", "shared: other users can write it"},
		{"shared/link", "shared", "shared: other users can write it"},
		{"sticky/run", "sticky", "sticky: other users can write it"},
		{"data/run", "data", "are never executed"},
		{"out/run", "out", "programs can change"},
		{"good/out", "good", "programs can change"},
	} {
		p := Policy{Allow: []string{filepath.Join(dir, test.allow)}, Hidden: []string{dir + "/data"}, Write: []string{dir + "/out"}}
		program, err := Open(dir+"/"+test.path, p)
		if err == nil {
			program.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, allowed %s: got %v, want %q", test.path, test.allow, err, test.want)
		}
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesProgramOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can create files of another user")
	}
	dir := trustedDir(t)
	write(t, dir+"/run", "#!/bin/sh\n", 0o755)
	if err := os.Chown(dir+"/run", 1234, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir+"/run", Policy{Allow: []string{dir}})
	if err == nil || !strings.Contains(err.Error(), "belongs to user 1234") || !strings.Contains(err.Error(), "chown root") {
		t.Errorf("got %v", err)
	}
}

// The mode of a file with an access control list shows the rights of its users as those of the group.
func TestOpenRefusesProgramThatAccessListMakesWritable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can create files of root")
	}
	dir := trustedDir(t)
	write(t, dir+"/run", "#!/bin/sh\n", 0o755)
	chmod(t, dir+"/run", 0o775)
	p := Policy{Allow: []string{dir}}
	program, err := Open(dir+"/run", p)
	if err != nil {
		t.Fatalf("of the group of root: %v", err)
	}
	program.Close()
	list := []uint16{2, 0} // version
	for _, entry := range [][4]uint16{{1, 7, 0xffff, 0xffff}, {2, 7, 1234, 0}, {4, 5, 0xffff, 0xffff}, {16, 7, 0xffff, 0xffff}, {32, 5, 0xffff, 0xffff}} {
		list = append(list, entry[:]...) // kind, rights, user
	}
	var text []byte
	for _, word := range list {
		text = binary.LittleEndian.AppendUint16(text, word)
	}
	if err := unix.Setxattr(dir+"/run", "system.posix_acl_access", text, 0); err != nil {
		t.Skip("skipped: the file system has no access control lists:", err)
	}
	if _, err := Open(dir+"/run", p); err == nil || !strings.Contains(err.Error(), "other users can write it") {
		t.Errorf("with an access control list: %v", err)
	}
	if err := errors.Join(unix.Removexattr(dir+"/run", "system.posix_acl_access"), os.Chmod(dir+"/run", 0o775), os.Chown(dir+"/run", 0, 1234)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir+"/run", p); err == nil || !strings.Contains(err.Error(), "other users can write it") {
		t.Errorf("of another group: %v", err)
	}
}

func TestOpenSearchesNames(t *testing.T) {
	dir := trustedDir(t)
	write(t, dir+"/run", "#!/bin/sh\n", 0o755)
	p := Policy{Allow: []string{dir}, Search: []string{"/does/not/exist", dir}}
	program, err := Open("run", p)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if program.Path() != dir+"/run" {
		t.Errorf("found %s", program.Path())
	}
	for name, want := range map[string]string{"walk": "not found in PATH", "a/run": "absolute", "": "not the path", "../run": "absolute"} {
		if _, err := Open(name, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

// The checked file is executed, whatever has become of its path. A start by path would execute the other one.
func TestSwappedProgramIsNotExecuted(t *testing.T) {
	swaps := map[string]func(t *testing.T, dir string){
		"none":   func(*testing.T, string) {},
		"rename": func(t *testing.T, dir string) { rename(t, dir+"/evil", dir+"/run") },
		"symlink": func(t *testing.T, dir string) {
			if err := os.Remove(dir + "/run"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(dir+"/evil", dir+"/run"); err != nil {
				t.Fatal(err)
			}
		},
		"directory": func(t *testing.T, dir string) {
			rename(t, dir, dir+".old")
			t.Cleanup(func() { os.RemoveAll(dir + ".old") })
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/run", "#!/bin/sh\necho evil\n", 0o755)
		},
		"removed": func(t *testing.T, dir string) {
			if err := os.Remove(dir + "/run"); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			eachIsolation(t, func(t *testing.T, isolation Isolation) {
				dir := trustedDir(t)
				write(t, dir+"/run", "#!/bin/sh\necho good $0\n", 0o755)
				write(t, dir+"/evil", "#!/bin/sh\necho evil\n", 0o755)
				p := policy(isolation)
				p.Allow, p.Read = []string{dir}, append(p.Read, filepath.Dir(dir))
				opened, err := Open(dir+"/run", p)
				if err != nil {
					t.Fatal(err)
				}
				defer opened.Close()
				swap(t, dir)
				_, out := execute(t, Command{Program: opened, Env: plainEnv, Policy: p})
				if !strings.HasPrefix(out, "good ") {
					t.Errorf("got %q", out)
				}
				if name == "none" && isolation == Full && out != "good "+dir+"/run\n" {
					t.Errorf("the script sees the path %q", out)
				}
				byPath, _ := execCommand(dir + "/run").CombinedOutput()
				if evil := string(byPath) == "evil\n"; evil != (name != "none" && name != "removed") {
					t.Errorf("the path gives %q", byPath)
				}
			})
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A program that creates a link where the policy names a path would choose what the next program sees.
func TestLinkThatProgramCanCreateIsNotFollowed(t *testing.T) {
	for _, isolation := range []Isolation{Full, Landlock} {
		t.Run(string(isolation), func(t *testing.T) {
			needs(t, isolation)
			g := newTarget(t)
			secret := t.TempDir()
			write(t, secret+"/x", "secret", 0o644)
			for _, link := range []string{g.out + "/in", g.dir + "/in"} { // programs can create the first only
				if err := os.Symlink(secret, link); err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{link, link + "/x"} {
					for name, p := range map[string]Policy{
						"write":  {Isolation: isolation, Read: append(DefaultRead(), path), Write: []string{g.out}},
						"shared": {Isolation: isolation, Read: append(DefaultRead(), path), Shared: []string{g.out}},
					} {
						c := Command{Program: program(t, "/bin/cat"), Args: []string{secret + "/x"}, Policy: p}
						if link == g.dir+"/in" {
							if exit, out := execute(t, c); exit.Code != 0 || out != "secret" {
								t.Errorf("%s %s: %+v %s", name, path, exit, out)
							}
						} else if _, err := Start(c); err == nil || !strings.Contains(err.Error(), "a program may have created") {
							t.Errorf("%s %s: %v", name, path, err)
						}
					}
				}
			}
		})
	}
}

// A program that exchanges a link on the way to a hidden directory would show that directory to the next program.
func TestHiddenPathThroughLinkOfProgramIsRefused(t *testing.T) {
	for _, isolation := range []Isolation{Full, Landlock} {
		t.Run(string(isolation), func(t *testing.T) {
			needs(t, isolation)
			g := newTarget(t)
			data := g.dir + "/data"
			for _, link := range []string{g.out + "/link", g.dir + "/link"} { // programs can change the first only
				if err := os.Symlink(g.dir, link); err != nil {
					t.Fatal(err)
				}
				p := g.policy(isolation)
				p.Hidden = []string{link + "/data", link + "/missing", g.dir + "/none/at/all"}
				resolved, err := p.Resolve()
				c := Command{Program: program(t, "/bin/cat"), Args: []string{data + "/secret"}, Policy: p}
				if link == g.out+"/link" {
					if _, startErr := Start(c); !isLinkRefusal(startErr) || !isLinkRefusal(err) {
						t.Errorf("got %v and %v", startErr, err)
					}
					continue
				}
				if want := []string{data, g.dir + "/missing", g.dir + "/none/at/all"}; err != nil || !slices.Equal(resolved.Hidden, want) {
					t.Errorf("resolved to %q, %v", resolved.Hidden, err)
				}
				if exit, out := execute(t, c); exit.Code == 0 {
					t.Errorf("the hidden file was read: %+v: %s", exit, out)
				}
			}
		})
	}
}

func isLinkRefusal(err error) bool {
	return err != nil && strings.Contains(err.Error(), "a program may have created")
}
