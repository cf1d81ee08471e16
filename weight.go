package rota

import "fmt"

// entryBytes is the estimated size of an entry without its contents.
const entryBytes = 256

// Weigh returns the number of jobs, items and artifacts of a command, and its estimated
// size in bytes.
func Weigh(c Command) (entries, bytes int) { return c.weigh() }

// checkWeight bounds the size of a command. A command is atomic, so a store cannot split
// it.
func checkWeight(c Command) *Error {
	entries, bytes := c.weigh()
	switch {
	case entries > CommandEntriesMax:
		return Invalidf("command", "has %d jobs, items and artifacts; at most %d are allowed: split it", entries, CommandEntriesMax)
	case bytes > CommandBytesMax:
		return Invalidf("command", "has about %s; at most %s are allowed: split it", mebibytes(bytes), mebibytes(CommandBytesMax))
	}
	return nil
}

func mebibytes(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (c *Enqueue) weigh() (entries, bytes int) {
	for i := range c.Jobs {
		n := &c.Jobs[i]
		bytes += entryBytes + len(n.Params) + len(n.UniqueKey) + len(n.ScopeID) + len(n.Trace)
		if n.ConcurrencyKey != nil {
			bytes += len(*n.ConcurrencyKey)
		}
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

func (c *EnqueueGroup) weigh() (entries, bytes int) {
	plain := Enqueue{Jobs: c.Jobs}
	return plain.weigh()
}

func (c *Direct) weigh() (entries, bytes int) { return 1, 2*entryBytes + len(c.Job.Params) }

func (c *PutType) weigh() (entries, bytes int) {
	return 1, entryBytes + len(c.Spec.Schema) + len(c.Spec.Description)
}

func (c *PutTemplate) weigh() (entries, bytes int) {
	entries, bytes = weighWebhooks(c.Spec.Webhooks)
	return entries, bytes + entryBytes + len(c.Spec.Params) + len(c.Spec.Description)
}

func (c *PutThrottle) weigh() (entries, bytes int) {
	n := 1 + len(c.Spec.Types) + len(c.Spec.Keys)
	for _, k := range c.Spec.Keys {
		bytes += len(k.Key)
	}
	return n, bytes + n*entryBytes
}

func (c *PutSchedule) weigh() (entries, bytes int) {
	for _, scope := range c.Spec.Scopes {
		bytes += len(scope.Kind) + len(scope.ID)
	}
	n := 1 + len(c.Spec.Scopes) + len(c.Spec.DependsOn) + len(c.Spec.Partition.Shards)
	bytes += lengths(c.Spec.Partition.Shards) + len(c.Spec.Partition.Expression)
	return n, bytes + n*entryBytes + len(c.Spec.Params) + len(c.Spec.Description) + len(c.Spec.Cron)
}

func (c *Fire) weigh() (entries, bytes int) { return 1 + len(c.Times), entryBytes + 64*len(c.Times) }

func (c *Trigger) weigh() (entries, bytes int) { return 1, entryBytes + len(c.Params) }

func (c *Backfill) weigh() (entries, bytes int) {
	return 1 + len(c.Times), entryBytes + 64*len(c.Times)
}

func (c *Prune) weigh() (entries, bytes int) {
	return 1 + len(c.Executions), entryBytes + 32*len(c.Executions)
}

func (c *Remember) weigh() (entries, bytes int) {
	return 1, entryBytes + len(c.Key) + len(c.Hash)
}

func (c *All) weigh() (entries, bytes int) {
	for _, m := range c.Members {
		if IsNil(m) {
			continue // Validate reports it
		}
		e, b := m.weigh()
		entries, bytes = entries+e, bytes+b
	}
	return entries, bytes
}

// weigh is for commands without other contents.
func (m *Meta) weigh() (entries, bytes int) { return 1, entryBytes }

func lengths(texts []string) (total int) {
	for _, t := range texts {
		total += 8 + len(t)
	}
	return total
}
