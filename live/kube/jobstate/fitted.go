package jobstate

// A Fit compares the CPUs and memory that a job's running pods ask for with what is planned.
type Fit struct {
	Retry
	Why string   // they are not as planned, for people; empty: they are, or are being made so
	At  Compared // when nothing was to do
}

// Compared is what pods were compared with, and which pods.
type Compared struct {
	Generation int64
	Cpus       float64 // per worker, as jobadapter.Grant has them
	Memory     int64   // likewise
	Pods       int
	Newest     uint64 // resource version
}
