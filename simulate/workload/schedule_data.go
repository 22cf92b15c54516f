package workload

type noiseKey struct {
	model string
	local int // samples per GPU at the start
	gpus  int
}

// noiseDoublings are the epochs at which jobs of mode GNS double their batch size, as measured once with
// each model; a missing key never does. Source: public Shockwave traces, whose profiles these reproduce.
var noiseDoublings = map[noiseKey][]int{
	{"ResNet-18", 16, 1}:        {31, 41, 51, 71},
	{"ResNet-18", 16, 2}:        {21, 31, 91, 111},
	{"ResNet-18", 16, 4}:        {11, 21, 81, 91},
	{"ResNet-18", 32, 1}:        {21, 31, 51},
	{"ResNet-18", 32, 2}:        {11, 21, 41},
	{"ResNet-18", 32, 4}:        {21, 31, 61},
	{"ResNet-18", 64, 1}:        {11, 31},
	{"ResNet-18", 64, 2}:        {21, 41},
	{"ResNet-18", 64, 4}:        {11, 61},
	{"ResNet-18", 128, 1}:       {11},
	{"ResNet-18", 128, 2}:       {41},
	{"ResNet-18", 128, 4}:       {11},
	{"ResNet-50", 32, 2}:        {101, 111},
	{"ResNet-50", 32, 4}:        {131, 221},
	{"ResNet-50", 64, 1}:        {101},
	{"ResNet-50", 64, 2}:        {81},
	{"ResNet-50", 64, 4}:        {191},
	{"LM", 5, 1}:                {31, 41, 61, 71},
	{"LM", 5, 2}:                {31, 51, 61, 71},
	{"LM", 5, 4}:                {11, 31, 71, 91},
	{"LM", 10, 1}:               {11, 21, 41},
	{"LM", 10, 2}:               {11, 31, 41},
	{"LM", 10, 4}:               {11, 31, 61},
	{"LM", 20, 1}:               {11, 41},
	{"LM", 20, 2}:               {31, 41},
	{"LM", 20, 4}:               {11, 61},
	{"LM", 40, 1}:               {11},
	{"LM", 40, 2}:               {11},
	{"LM", 40, 4}:               {61},
	{"Recommendation", 512, 1}:  {21, 41, 71, 91},
	{"Recommendation", 1024, 1}: {21, 51, 91},
	{"Recommendation", 2048, 1}: {21, 41},
	{"Recommendation", 4096, 1}: {41},
}
