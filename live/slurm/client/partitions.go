package client

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePartitions parses the output of scontrol -o show partition. Errors are ErrMalformed.
func ParsePartitions(text []byte) ([]Partition, error) {
	all, err := records(text, "PartitionName", []string{"Nodes", "State", "MaxTime"}, nil)
	if err != nil {
		return nil, err
	}
	return convert(all, (*record).partition)
}

func (r *record) partition() (Partition, error) {
	var c checker
	p := Partition{
		Name: r.get("PartitionName"), Default: r.get("Default") == "YES", State: r.get("State"), Nodes: c.nodes(r.get("Nodes")),
		Limit: c.span(r, "MaxTime"), Usual: c.span(r, "DefaultTime"), Tier: c.count(c.field(r, "PriorityTier"), "PriorityTier"),
		Preempt: r.get("PreemptMode"), QOS: r.get("QoS"), Accounts: listed(r.get("AllowAccounts")),
		Groups: listed(r.get("AllowGroups")), AllowQOS: listed(r.get("AllowQos")),
	}
	return p, c.of("partition", strconv.Quote(p.Name))
}

// ParseReservations parses the output of scontrol -o show reservation. Errors are ErrMalformed.
func ParseReservations(text []byte) ([]Reservation, error) {
	all, err := records(text, "ReservationName", []string{"StartTime", "EndTime", "State"}, nil)
	if err != nil {
		return nil, err
	}
	return convert(all, (*record).reservation)
}

func (r *record) reservation() (Reservation, error) {
	var c checker
	v := Reservation{
		Name: r.get("ReservationName"), Start: c.at(c.field(r, "StartTime"), "StartTime"), End: c.at(c.field(r, "EndTime"), "EndTime"),
		Nodes: c.nodes(r.get("Nodes")), Users: listed(r.get("Users")), Accounts: listed(r.get("Accounts")),
		Flags: listed(r.get("Flags")), Partition: r.get("PartitionName"), State: r.get("State"), GPUs: c.gpus(r.get("TRES")),
	}
	return v, c.of("reservation", strconv.Quote(v.Name))
}

// QOSColumns are the columns that ParseQOS reads.
const QOSColumns = "Name%200,Priority,Flags%200,GrpTRES%200,MaxTRESPU%200,MaxTRESPA%200,MaxTRES%200,MaxJobsPU,MaxSubmitPU,MaxWall"

// ParseQOS parses the output of sacctmgr -n -P show qos. Errors are ErrMalformed.
func ParseQOS(text []byte) ([]QOS, error) {
	var all []QOS
	want, n := strings.Count(QOSColumns, ",")+1, 0
	for line := range strings.Lines(string(text)) {
		n++
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != want {
			return nil, fmt.Errorf("%w: line %d: %d fields, want %d", ErrMalformed, n, len(f), want)
		}
		r := &record{line: n, fields: map[string]string{"Priority": f[1], "MaxJobsPU": f[7], "MaxSubmitPU": f[8], "MaxWall": f[9]}}
		var c checker
		q := QOS{
			Name: f[0], Priority: c.count(c.field(r, "Priority"), "Priority"), Flags: listed(f[2]),
			GPUs: c.gpus(f[3]), GPUsPerUser: c.gpus(f[4]), GPUsPerAccount: c.gpus(f[5]), GPUsPerJob: c.gpus(f[6]),
			JobsPerUser: c.count(c.field(r, "MaxJobsPU"), "MaxJobsPU"), SubmitPerUser: c.count(c.field(r, "MaxSubmitPU"), "MaxSubmitPU"),
			Limit: c.span(r, "MaxWall"),
		}
		if err := c.of("qos", strconv.Quote(q.Name)); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}
