package rota

import "fmt"

// entryBytes is reckoned for an entry besides what it carries.
const entryBytes = 256

// Weigh counts the jobs, items and artifacts of a command, and reckons the
// bytes it carries.
func Weigh(c Command) (entries, bytes int) { return c.weigh() }

// checkWeight holds a command to what can be encoded, sent, and applied at
// once: it is atomic, so no store could cut it up.
func checkWeight(c Command) *Error {
	entries, bytes := c.weigh()
	switch {
	case entries > CommandEntriesMax:
		return Invalidf("command", "carries %d jobs, items and artifacts; at most %d are allowed: send it as several", entries, CommandEntriesMax)
	case bytes > CommandBytesMax:
		return Invalidf("command", "carries about %s; at most %s are allowed: send it as several", mebibytes(bytes), mebibytes(CommandBytesMax))
	}
	return nil
}

func mebibytes(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (c *Enqueue) weigh() (entries, bytes int) {
	for i := range c.Jobs {
		n := &c.Jobs[i]
		bytes += entryBytes + len(n.Params) + len(n.UniqueKey) + len(n.ScopeID)
	}
	return len(c.Jobs), bytes
}

func (c *Extend) weigh() (entries, bytes int) {
	for i := range c.Items {
		bytes += entryBytes + len(c.Items[i].Progress)
	}
	return len(c.Items), bytes
}

func (c *Note) weigh() (entries, bytes int) {
	for i := range c.Items {
		it := &c.Items[i]
		bytes += entryBytes + len(it.Progress) + len(it.LogPath) + lengths(it.Artifacts)
		entries += 1 + len(it.Artifacts)
	}
	return entries, bytes
}

func (c *Finish) weigh() (entries, bytes int) {
	for i := range c.Items {
		it := &c.Items[i]
		bytes += entryBytes + len(it.Error) + len(it.Result) + len(it.LogPath) + lengths(it.Artifacts)
		entries += 1 + len(it.Artifacts)
	}
	return entries, bytes
}

func (c *Edit) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Params) }

func (c *All) weigh() (entries, bytes int) {
	for _, m := range c.Members {
		if IsNil(m) {
			continue // Validate names it
		}
		e, b := m.weigh()
		entries, bytes = entries+e, bytes+b
	}
	return entries, bytes
}

// What carries nothing else weighs what its head weighs.
func (m *Meta) weigh() (entries, bytes int) { return 1, entryBytes }

func lengths(texts []string) (total int) {
	for _, t := range texts {
		total += 8 + len(t)
	}
	return total
}
