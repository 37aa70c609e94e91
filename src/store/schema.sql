-- SPDX-License-Identifier: Apache-2.0
-- The Warplens profile, schema version 1. Described with examples in docs/profile-format.md.
-- Ids are given by the collector, from 1; 0 in a reference means "none". Times are ns on the host's monotonic clock.
PRAGMA application_id = 0x574C5046; -- "WLPF"
PRAGMA user_version = 1;

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Where figures come from. Figures of different sources are never added up.
CREATE TABLE source(id INTEGER PRIMARY KEY, provenance TEXT NOT NULL, tool TEXT NOT NULL, device TEXT NOT NULL,
    detail TEXT NOT NULL);

-- The metrics stored here. Ids are this file's own: go by name.
CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL, text TEXT NOT NULL);

-- text: zstd frame of text_size bytes.
CREATE TABLE module(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, path TEXT NOT NULL,
    text_size INTEGER NOT NULL, text BLOB);

-- What a module of machine code (kind cubin) says, for those who cannot read it: the output of nvdisasm -json (format
-- 'nvdisasm-json'). text: zstd frame of text_size bytes.
CREATE TABLE listing(module INTEGER PRIMARY KEY REFERENCES module, format TEXT NOT NULL, text_size INTEGER NOT NULL,
    text BLOB NOT NULL);

CREATE TABLE function(id INTEGER PRIMARY KEY, module INTEGER NOT NULL REFERENCES module, name TEXT NOT NULL,
    is_entry INTEGER NOT NULL, insn_count INTEGER NOT NULL, registers INTEGER NOT NULL, shared_bytes INTEGER NOT NULL,
    local_bytes INTEGER NOT NULL, const_bytes INTEGER NOT NULL);

-- system: a header of the toolkit or the system; code inlined from it is shown at the line that called it, if that is the
-- program's own.
CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT NOT NULL, system INTEGER NOT NULL);

-- One row per instruction; pc is its index in the function. text_line: its line in the module's text. inlined > 0: (file,
-- line) is inside a function inlined at (call_file, call_line), the outermost call site.
CREATE TABLE insn(function INTEGER NOT NULL REFERENCES function, pc INTEGER NOT NULL, file INTEGER NOT NULL,
    line INTEGER NOT NULL, "column" INTEGER NOT NULL, call_file INTEGER NOT NULL, call_line INTEGER NOT NULL,
    inlined INTEGER NOT NULL, text_line INTEGER NOT NULL, op_class INTEGER NOT NULL, PRIMARY KEY(function, pc)) WITHOUT ROWID;

-- position: of the launch in the run, from 0. end_ns 0: not finished when the profile ended. status: 0 or a cudaError_t.
-- stack: the host's call stack, NULL when it is not known.
CREATE TABLE launch(id INTEGER PRIMARY KEY, position INTEGER NOT NULL, function INTEGER NOT NULL REFERENCES function,
    source INTEGER NOT NULL REFERENCES source, device INTEGER NOT NULL, stream INTEGER NOT NULL,
    grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
    block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
    cluster_x INTEGER NOT NULL, cluster_y INTEGER NOT NULL, cluster_z INTEGER NOT NULL,
    dynamic_shared_bytes INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, status INTEGER NOT NULL,
    stack INTEGER);
CREATE INDEX launch_function ON launch(function, source);

-- Arguments: the kernel's parameters as they lie in its memory, at most 1,024 bytes of them. Not of every launch.
CREATE TABLE launch_argument(launch INTEGER PRIMARY KEY REFERENCES launch, data BLOB NOT NULL);

-- Totals of one launch.
CREATE TABLE launch_metric(launch INTEGER NOT NULL REFERENCES launch, metric INTEGER NOT NULL REFERENCES metric,
    value REAL NOT NULL, PRIMARY KEY(launch, metric)) WITHOUT ROWID;

-- Totals of one instruction over all launches.
CREATE TABLE pc_metric(function INTEGER NOT NULL REFERENCES function, source INTEGER NOT NULL REFERENCES source,
    pc INTEGER NOT NULL, metric INTEGER NOT NULL REFERENCES metric, value REAL NOT NULL,
    PRIMARY KEY(function, source, pc, metric)) WITHOUT ROWID;

CREATE TABLE copy(id INTEGER PRIMARY KEY, source INTEGER NOT NULL, device INTEGER NOT NULL, stream INTEGER NOT NULL,
    kind TEXT NOT NULL, bytes INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);

CREATE TABLE alloc(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, kind TEXT NOT NULL, address INTEGER NOT NULL,
    bytes INTEGER NOT NULL, time_ns INTEGER NOT NULL, freed INTEGER NOT NULL, label TEXT NOT NULL);

CREATE TABLE message(id INTEGER PRIMARY KEY, severity TEXT NOT NULL, time_ns INTEGER NOT NULL, text TEXT NOT NULL);

-- When a launch ran, on the clock of the machine it ran on (simulated, or the GPU's own): cycles of the SM clock since
-- that machine began, and ns. overlapped: other launches ran meanwhile, and counters of the machine are of all of them.
CREATE TABLE launch_time(launch INTEGER PRIMARY KEY REFERENCES launch, source INTEGER NOT NULL,
    begin_cycle INTEGER NOT NULL, end_cycle INTEGER NOT NULL, first_cta_cycle INTEGER NOT NULL,
    last_cta_cycle INTEGER NOT NULL, begin_ns REAL NOT NULL, end_ns REAL NOT NULL, registers INTEGER NOT NULL,
    ctas_per_sm INTEGER NOT NULL, overlapped INTEGER NOT NULL);

-- Launches whose time was estimated, as only a part of them was simulated (--sample): the cycles lie between low_cycles
-- and high_cycles with 95 % confidence; detail: the share of the warp instructions that were simulated cycle by cycle.
CREATE TABLE launch_estimate(launch INTEGER PRIMARY KEY REFERENCES launch, source INTEGER NOT NULL,
    low_cycles INTEGER NOT NULL, high_cycles INTEGER NOT NULL, detail REAL NOT NULL);

-- Loads of global memory by warps that took low to high - 1 cycles.
CREATE TABLE load_latency(launch INTEGER NOT NULL REFERENCES launch, low INTEGER NOT NULL, high INTEGER NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY(launch, low)) WITHOUT ROWID;

-- The stall reasons of a source.
CREATE TABLE stall(source INTEGER NOT NULL REFERENCES source, id INTEGER NOT NULL, name TEXT NOT NULL,
    text TEXT NOT NULL, PRIMARY KEY(source, id)) WITHOUT ROWID;

-- Warps that waited at (function, pc), and the instruction (cause_function, cause_pc) that they truly waited for: the
-- producer of the value, or what warps missing at a barrier were at. Totals over all launches.
CREATE TABLE stall_cause(function INTEGER NOT NULL REFERENCES function, source INTEGER NOT NULL, pc INTEGER NOT NULL,
    stall INTEGER NOT NULL, cause_function INTEGER NOT NULL, cause_pc INTEGER NOT NULL, cycles INTEGER NOT NULL,
    times INTEGER NOT NULL, PRIMARY KEY(function, source, pc, stall, cause_function, cause_pc)) WITHOUT ROWID;

-- Stall samples of one function in one launch (launch 0: in all of them). period: cycles between two samples;
-- not_issued: those of cycles in which the scheduler issued nothing.
CREATE TABLE sample(launch INTEGER NOT NULL, function INTEGER NOT NULL, source INTEGER NOT NULL, pc INTEGER NOT NULL,
    stall INTEGER NOT NULL, samples INTEGER NOT NULL, not_issued INTEGER NOT NULL, period INTEGER NOT NULL,
    PRIMARY KEY(launch, function, source, pc, stall, period)) WITHOUT ROWID;

-- Counters of a launch over time, of every unit of one kind (gpu, sm, port, slice, channel, bank; pc: instructions of
-- `function`). Point p is what the ticks first + p * step to first + (p + 1) * step - 1 added; a tick lasts tick_ns.
-- data: zstd frame, see docs/profile-format.md. Not WITHOUT ROWID: rows of more than a quarter of a page would each take pages of
-- their own.
CREATE TABLE timeline(launch INTEGER NOT NULL REFERENCES launch, source INTEGER NOT NULL, unit TEXT NOT NULL,
    function INTEGER NOT NULL, units INTEGER NOT NULL, metrics INTEGER NOT NULL, points INTEGER NOT NULL,
    first INTEGER NOT NULL, step INTEGER NOT NULL, tick_ns REAL NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY(launch, source, unit, function));

-- Quantities outside the catalogue of metrics.
-- data: zstd frame of count little-endian 64-bit values (doubles; unsigned integers in the two tables below).
CREATE TABLE series(id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, source INTEGER NOT NULL, name TEXT NOT NULL,
    unit TEXT NOT NULL, unit_kind INTEGER NOT NULL, unit_index INTEGER NOT NULL, first_ns INTEGER NOT NULL,
    step_ns INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);

CREATE TABLE thread_category(id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, source INTEGER NOT NULL,
    category TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);

CREATE TABLE access_count(id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, source INTEGER NOT NULL,
    object TEXT NOT NULL, word_bytes INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);

-- What the checker or an analysis found. evidence: JSON. estimate, low, high: speedup if the advice is followed, NULL when there is none.
CREATE TABLE finding(id INTEGER PRIMARY KEY, rule TEXT NOT NULL, function INTEGER, pc INTEGER, file TEXT, line INTEGER,
    severity TEXT NOT NULL, text TEXT NOT NULL, evidence TEXT NOT NULL, estimate REAL, low REAL, high REAL, confidence REAL);

-- The program run once more with some of the timing model edited (edits: one a line, docs/advice.md), as far as advice of this
-- rule has it: the time of all launches of the kernel without and with that.
CREATE TABLE experiment(function INTEGER NOT NULL REFERENCES function, source INTEGER NOT NULL, rule TEXT NOT NULL,
    edits TEXT NOT NULL, before_ns REAL NOT NULL, after_ns REAL NOT NULL,
    PRIMARY KEY(function, source, rule, edits)) WITHOUT ROWID;

-- Something of the host that took time: ranges and marks of NVTX, waits for the GPU.
CREATE TABLE span(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, thread INTEGER NOT NULL,
    stream INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);

-- Host call stacks. A frame is the return address at `offset` in a file (object 0: in no file, offset is the address);
-- symbol, file, line: NULL where they are not known. depth 0 is the innermost frame.
CREATE TABLE object(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE frame(id INTEGER PRIMARY KEY, object INTEGER NOT NULL, offset INTEGER NOT NULL, symbol TEXT, file TEXT,
    line INTEGER);
CREATE TABLE stack_frame(stack INTEGER NOT NULL, depth INTEGER NOT NULL, frame INTEGER NOT NULL REFERENCES frame,
    PRIMARY KEY(stack, depth)) WITHOUT ROWID;

-- What was lost, and how much of it. Empty in a good profile.
CREATE TABLE dropped(what TEXT PRIMARY KEY, count INTEGER NOT NULL, time_ns INTEGER NOT NULL) WITHOUT ROWID;

-- The line that an instruction is shown at; file NULL: no source information, line is then one of the module's text.
CREATE VIEW insn_line AS
    SELECT i.function, i.pc, CASE WHEN i.inlined > 0 AND f.system AND NOT c.system THEN c.path ELSE f.path END AS file,
        CASE WHEN f.path IS NULL THEN i.text_line WHEN i.inlined > 0 AND f.system AND NOT c.system THEN i.call_line
        ELSE i.line END AS line
    FROM insn i LEFT JOIN file f ON f.id = i.file LEFT JOIN file c ON c.id = i.call_file;

CREATE VIEW line_metric AS
    SELECT f.name AS function, s.provenance, l.file, l.line, m.name AS metric, sum(p.value) AS value
    FROM pc_metric p JOIN insn_line l ON l.function = p.function AND l.pc = p.pc JOIN function f ON f.id = p.function
        JOIN source s ON s.id = p.source JOIN metric m ON m.id = p.metric
    GROUP BY p.function, p.source, l.file, l.line, p.metric;

CREATE VIEW launch_summary AS
    SELECT l.position, f.name AS function, s.provenance, l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,
        l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block, l.status,
        CASE WHEN l.end_ns > 0 THEN l.end_ns - l.begin_ns END AS host_ns,
        (SELECT value FROM launch_metric v JOIN metric m ON m.id = v.metric
            WHERE v.launch = l.id AND m.name = 'smsp__inst_executed.sum') AS warp_inst,
        (SELECT value FROM launch_metric v JOIN metric m ON m.id = v.metric
            WHERE v.launch = l.id AND m.name = 'smsp__thread_inst_executed.sum') AS thread_inst
    FROM launch l JOIN function f ON f.id = l.function JOIN source s ON s.id = l.source;

CREATE VIEW launch_value AS
    SELECT l.position, f.name AS function, m.name AS metric, v.value, m.unit
    FROM launch_metric v JOIN launch l ON l.id = v.launch JOIN function f ON f.id = l.function
        JOIN metric m ON m.id = v.metric;
