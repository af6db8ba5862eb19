/** Receives what takes long, in lines for a person, such as "Fetching MongoDB (42 MB) …". */
export type Progress = (line: string) => void;
