package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAutomaticMemoryLimit(t *testing.T) {
	for name, row := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known":    {nil, 512 << 20},
		"large machine":    {map[string]string{"proc/meminfo": "MemTotal:       24681472 kB\nMemFree: 1 kB\n"}, 512 << 20},
		"small machine":    {map[string]string{"proc/meminfo": "MemTotal:       1048576 kB\n"}, 512 << 20},
		"tiny machine":     {map[string]string{"proc/meminfo": "MemTotal:       65536 kB\n"}, 64 << 20},
		"control group":    {map[string]string{"proc/meminfo": "MemTotal: 24681472 kB\n", "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "536870912\n"}, 256 << 20},
		"container":        {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n"}, 128 << 20},
		"old group":        {map[string]string{"proc/self/cgroup": "5:cpu,memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "536870912\n"}, 256 << 20},
		"old without":      {map[string]string{"proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 512 << 20},
		"unreadable files": {map[string]string{"proc/meminfo": "?", "proc/self/cgroup": "?\n0::/\n", "sys/fs/cgroup/memory.max": "?"}, 512 << 20},
	} {
		root := t.TempDir()
		for path, text := range row.files {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := automaticLimit(root); got != row.want {
			t.Errorf("%s: the limit is %d MiB, want %d", name, got>>20, row.want>>20)
		}
	}
	if got := (Config{MemoryLimit: 100 << 20}).GoMemoryLimit(); got != 100<<20 {
		t.Errorf("the configured limit becomes %d", got)
	}
}
