package httpapi

import "github.com/rotajobs/rota"

// Partition is how a schedule is spread over shards.
type Partition struct {
	Strategy   string   `json:"strategy" enum:"ALL_SHARDS,SINGLE_SHARD,SHARD_SET,DYNAMIC" doc:"For which shards it fires."`
	Shards     []string `json:"shards,omitempty" doc:"The ids of shards: one of SINGLE_SHARD, some of SHARD_SET."`
	Expression string   `json:"expression,omitempty" doc:"Of DYNAMIC: what picks the shards."`
}

// newPartition shows a partition; nil if there is none.
func newPartition(p rota.Partition) *Partition {
	if p.IsZero() {
		return nil
	}
	return &Partition{Strategy: string(p.Strategy), Shards: p.Shards, Expression: p.Expression}
}

// applyPartition replaces a partition whole: its parts say nothing without each
// other.
func applyPartition(given Opt[Partition], field *rota.Partition) {
	if !given.Set {
		return
	}
	*field = rota.Partition{}
	if p := given.Value; p != nil {
		field.Shards, field.Expression = p.Shards, p.Expression
		applyEnum(Some(p.Strategy), &field.Strategy, rota.PartitionAll, rota.PartitionSingle, rota.PartitionSet, rota.PartitionDynamic)
	}
}
