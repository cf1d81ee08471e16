package rota_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func partitionRefusals() []refusal {
	wrong := func(name string, p rota.Partition, field, reason string) refusal {
		return spec(name, func(s *rota.ScheduleSpec) { s.Partition = p }, "partition."+field, reason)
	}
	two := []string{samples.Shard, "018f2c4e-0000-7000-8000-000000000008"}
	return []refusal{
		spec("an unknown class", func(s *rota.ScheduleSpec) { s.Class = "ANY" }, "class", `is "ANY"; allowed are LOCAL_SAFE, LEADER_ONLY, QUORUM_REQUIRED`),
		wrong("an unknown strategy", rota.Partition{Strategy: "SOME"}, "strategy", `is "SOME"; allowed are ALL_SHARDS`),
		wrong("shards without a strategy", rota.Partition{Shards: two}, "strategy", "is empty; allowed are ALL_SHARDS"),
		wrong("shards of all", rota.Partition{Strategy: rota.PartitionAll, Shards: two}, "shards", "are given, but ALL_SHARDS takes none"),
		wrong("shards of a dynamic one", rota.Partition{Strategy: rota.PartitionDynamic, Shards: two, Expression: "true"}, "shards", "DYNAMIC takes none"),
		wrong("no single shard", rota.Partition{Strategy: rota.PartitionSingle}, "shards", "has 0 entries; SINGLE_SHARD takes one"),
		wrong("two single shards", rota.Partition{Strategy: rota.PartitionSingle, Shards: two}, "shards", "has 2 entries; SINGLE_SHARD takes one"),
		wrong("a set of none", rota.Partition{Strategy: rota.PartitionSet}, "shards", "is empty; SHARD_SET takes 1 to 1000"),
		wrong("a large set", rota.Partition{Strategy: rota.PartitionSet, Shards: make([]string, rota.ShardsMax+1)}, "shards", "has 1001 entries; at most 1000"),
		wrong("a shard that is no UUID", rota.Partition{Strategy: rota.PartitionSet, Shards: []string{samples.Shard, "eu-1"}}, "shards[1]", "is not a UUID"),
		wrong("a shard twice", rota.Partition{Strategy: rota.PartitionSet, Shards: []string{samples.Shard, strings.ToUpper(samples.Shard)}}, "shards[1]", "is listed twice"),
		wrong("no expression", rota.Partition{Strategy: rota.PartitionDynamic}, "expression", "is empty; DYNAMIC needs"),
		wrong("an expression of all", rota.Partition{Strategy: rota.PartitionAll, Expression: "true"}, "expression", "only DYNAMIC takes one"),
		wrong("a long expression", rota.Partition{Strategy: rota.PartitionDynamic, Expression: strings.Repeat("x", rota.ExpressionMax+1)}, "expression", "has 4097 bytes"),
	}
}

func TestPartitionIsStoredInLowerCaseAndSorted(t *testing.T) {
	shards := []string{"018F2C4E-0000-7000-8000-00000000000B", "018f2c4e-0000-7000-8000-00000000000a"}
	s := rota.ScheduleSpec{Template: "mail", Cron: "@daily", Partition: rota.Partition{Strategy: rota.PartitionSet, Shards: shards}}
	got := s.Canonical().Partition.Shards
	want := []string{"018f2c4e-0000-7000-8000-00000000000a", "018f2c4e-0000-7000-8000-00000000000b"}
	if !slices.Equal(got, want) {
		t.Errorf("it is stored with %v, want %v", got, want)
	}
	if shards[0] != "018F2C4E-0000-7000-8000-00000000000B" {
		t.Error("what was declared was changed in place")
	}
}

func TestScheduleWithoutPartitionIsStoredAsBefore(t *testing.T) {
	plain := string(rota.EncodeSpec(rota.ScheduleSpec{Template: "mail", Cron: "@daily"}.Canonical()))
	if strings.Contains(plain, "partition") || strings.Contains(plain, "class") {
		t.Errorf("it is stored as %s, with what was not declared", plain)
	}
}
