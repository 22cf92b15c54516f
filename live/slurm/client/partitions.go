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
	return Partition{Name: r.get("PartitionName"), QOS: r.get("QoS")}, nil
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
		Flags: listed(r.get("Flags")), State: r.get("State"),
	}
	return v, c.of("reservation", strconv.Quote(v.Name))
}

// QOSColumns are the columns that ParseQOS reads.
const QOSColumns = "Name%200,GrpTRES%200,MaxTRESPU%200,MaxTRESPA%200,MaxTRES%200,MaxJobsPU"

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
		r := &record{line: n, fields: map[string]string{"MaxJobsPU": f[5]}}
		var c checker
		q := QOS{
			Name: f[0], GPUs: c.gpus(f[1]), GPUsPerUser: c.gpus(f[2]), GPUsPerAccount: c.gpus(f[3]), GPUsPerJob: c.gpus(f[4]),
			JobsPerUser: c.count(c.field(r, "MaxJobsPU"), "MaxJobsPU"),
		}
		if err := c.of("qos", strconv.Quote(q.Name)); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}
