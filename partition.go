package rota

import (
	"fmt"
	"slices"
	"strings"
)

// Class is what a job requires of the cluster while it runs. A single node meets every
// class.
type Class string

// The classes; empty: no requirement.
const (
	ClassLocalSafe      Class = "LOCAL_SAFE"      // any node may run it, even a partitioned one
	ClassLeaderOnly     Class = "LEADER_ONLY"     // the leader runs it
	ClassQuorumRequired Class = "QUORUM_REQUIRED" // the node that runs it must reach a majority
)

// Strategy is how the shards of a schedule are selected.
type Strategy string

// The strategies.
const (
	PartitionAll     Strategy = "ALL_SHARDS"
	PartitionSingle  Strategy = "SINGLE_SHARD"
	PartitionSet     Strategy = "SHARD_SET"
	PartitionDynamic Strategy = "DYNAMIC" // the shards that an expression selects
)

// Partition distributes a schedule over shards. The zero value is no partition. A single
// node has one shard, so there a partition has no effect.
type Partition struct {
	Strategy   Strategy `wire:"1" json:"strategy"`
	Shards     []string `wire:"2" json:"shards,omitempty"` // UUIDs: one for SINGLE_SHARD, up to ShardsMax for SHARD_SET
	Expression string   `wire:"3" json:"expression,omitempty"`
}

// IsZero reports whether there is no partition.
func (p Partition) IsZero() bool { return p.Strategy == "" && len(p.Shards) == 0 && p.Expression == "" }

// canonical returns the partition as stored.
func (p Partition) canonical() Partition {
	p.Shards = slices.Clone(p.Shards)
	for i, shard := range p.Shards {
		p.Shards[i] = strings.ToLower(shard)
	}
	slices.Sort(p.Shards)
	return p
}

func (p *Partition) validate() *Error {
	if p.IsZero() {
		return nil
	}
	most, words := 0, []Strategy{PartitionAll, PartitionSingle, PartitionSet, PartitionDynamic}
	switch p.Strategy {
	case PartitionSingle:
		most = 1
	case PartitionSet:
		most = ShardsMax
	case "":
		return Invalidf("partition.strategy", "is empty; allowed are ALL_SHARDS, SINGLE_SHARD, SHARD_SET, DYNAMIC")
	}
	switch {
	case len(p.Shards) > 0 && most == 0 && slices.Contains(words, p.Strategy):
		return Invalidf("partition.shards", "are given, but %s takes none; omit them", p.Strategy)
	case len(p.Shards) != 1 && most == 1:
		return Invalidf("partition.shards", "has %d entries; SINGLE_SHARD takes one", len(p.Shards))
	case len(p.Shards) == 0 && most > 0:
		return Invalidf("partition.shards", "is empty; SHARD_SET takes 1 to %d", ShardsMax)
	case len(p.Shards) > most && most > 0:
		return Invalidf("partition.shards", "has %d entries; at most %d are allowed", len(p.Shards), ShardsMax)
	case p.Expression == "" && p.Strategy == PartitionDynamic:
		return Invalidf("partition.expression", "is empty; DYNAMIC needs an expression that selects the shards")
	case p.Expression != "" && p.Strategy != PartitionDynamic && slices.Contains(words, p.Strategy):
		return Invalidf("partition.expression", "is given, but only DYNAMIC takes one; omit it")
	}
	return first(checkWord("partition.strategy", p.Strategy, words...),
		checkText("partition.expression", p.Expression, ExpressionMax), p.validateShards())
}

func (p *Partition) validateShards() *Error {
	seen := map[ID]bool{}
	for i, shard := range p.Shards {
		field := fmt.Sprintf("partition.shards[%d]", i)
		id, err := ParseID(shard)
		if err != nil {
			return Invalidf(field, "is not a UUID, such as 018f2c4e-0000-7000-8000-000000000007")
		}
		if seen[id] {
			return Invalidf(field, "is listed twice; list each shard once")
		}
		seen[id] = true
	}
	return nil
}
