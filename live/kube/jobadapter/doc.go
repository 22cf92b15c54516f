// Package jobadapter reads and changes the Kubernetes objects of jobs: batch/v1 Jobs, JobSets,
// TrainJobs and RayJobs. It gives all of them one interface, Kind: Read says what a job asks for,
// Start sets its size and lets its controller create pods, Stop suspends it, and Resize changes
// its size while it runs. A worker is a pod with GPUs; pods without GPUs are ignored.
//
// Start, Stop and Resize change an object in memory, and only the fields that they must. The
// caller patches the difference. When Start sizes a job, it keeps what the user asked for in an
// annotation (v1alpha1.Asked). That is valid until somebody else changes the size.
//
// Functions here read no clock and do not talk to the API server. Users write the objects, and the
// API server does not check all their fields: so numbers are bounded, and Job.Problem says what is
// wrong.
package jobadapter
